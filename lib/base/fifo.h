#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace apimesh {

/// A queue for few items that is mostly empty. Unlike std::deque, it allocates no memory while it is empty: most calls
/// queue at most one item.
template <class T>
class Fifo {
 public:
  bool empty() const { return first_ == items_.size(); }
  std::size_t size() const { return items_.size() - first_; }
  T& front() { return items_[first_]; }
  void push_back(T item) { items_.push_back(std::move(item)); }
  void pop_front() {
    items_[first_++] = T();  // releases the resources of the item
    if (empty()) {
      clear();
    } else if (first_ >= kCompactFrom && first_ * 2 >= items_.size()) {
      items_.erase(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(first_));
      first_ = 0;
    }
  }
  void clear() {
    items_.clear();
    first_ = 0;
  }

 private:
  static constexpr std::size_t kCompactFrom = 16;
  std::vector<T> items_;
  std::size_t first_ = 0;
};

}  // namespace apimesh
