#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace apimesh {

/// Finds values that are in use elsewhere, so that equal ones are made once. It does not keep them: an entry ends with
/// the last owner of its value, and its key is removed some time later. Thread-safe.
template <class Key, class T, class Hash = std::hash<Key>>
class WeakCache {
 public:
  /// Returns nullptr if the value is not in use.
  std::shared_ptr<const T> Find(const Key& key) const {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(key);
    return found == entries_.end() ? nullptr : found->second.lock();
  }
  void Add(Key key, const std::shared_ptr<const T>& value) {
    const std::lock_guard lock(mutex_);
    if (entries_.size() >= sweep_at_) {
      std::erase_if(entries_, [](const auto& entry) { return entry.second.expired(); });
      sweep_at_ = std::max(kFirstSweep, 2 * entries_.size());
    }
    entries_[std::move(key)] = value;
  }

 private:
  static constexpr std::size_t kFirstSweep = 1024;

  mutable std::mutex mutex_;
  std::unordered_map<Key, std::weak_ptr<const T>, Hash> entries_;  // guarded by mutex_
  std::size_t sweep_at_ = kFirstSweep;                             // guarded by mutex_
};

}  // namespace apimesh
