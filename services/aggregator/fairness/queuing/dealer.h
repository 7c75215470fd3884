#pragma once

#include <cstdint>
#include <vector>

namespace apimesh::aggregator {

/// Shuffle sharding: deals each flow a hand of queues, determined by the hash of the flow. Two flows rarely have the
/// same hand, so a flow that fills all of its queues leaves at least one queue to almost every other flow. Immutable.
class Dealer {
 public:
  /// The largest hand that the API allows for any number of queues: its validation requires 60 bits of entropy at most.
  static constexpr int kMaxHandSize = 32;

  /// `hand_size` is at least 1 and at most `queues`.
  Dealer(int queues, int hand_size) : queues_(queues), hand_size_(hand_size) {}

  /// Writes the indices of distinct queues to `hand`, which has room for kMaxHandSize, and returns their number.
  int Deal(std::uint64_t hash, int* hand) const;

 private:
  int queues_;
  int hand_size_;
};

}  // namespace apimesh::aggregator
