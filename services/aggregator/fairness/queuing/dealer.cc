#include "services/aggregator/fairness/queuing/dealer.h"

#include <algorithm>

namespace apimesh::aggregator {

int Dealer::Deal(std::uint64_t hash, int* hand) const {
  int sorted[kMaxHandSize];
  const int size = std::min(hand_size_, kMaxHandSize);
  for (int i = 0; i < size; ++i) {
    // The n-th of the queues that have not been dealt. The dealt queues are visited in ascending order, so each one
    // that is not above the candidate moves it by one.
    const auto remaining = static_cast<std::uint64_t>(queues_ - i);
    int candidate = static_cast<int>(hash % remaining);
    hash /= remaining;
    int position = 0;
    for (; position < i && sorted[position] <= candidate; ++position) ++candidate;
    std::copy_backward(sorted + position, sorted + i, sorted + i + 1);
    sorted[position] = candidate;
    hand[i] = candidate;
  }
  return size;
}

}  // namespace apimesh::aggregator
