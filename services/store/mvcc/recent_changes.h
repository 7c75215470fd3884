#pragma once

#include <deque>
#include <string>

#include "services/store/mvcc/revision.h"

namespace apimesh::store {

/// The newest changes with their values, in order: all changes that are not yet in the base, and some more for watchers
/// that reconnect after a short time. Must be used on the loop thread only.
class RecentChanges {
 public:
  void Append(const Change& change) {
    bytes_ += change.key.size() + change.value.size() + sizeof(Owned);
    changes_.push_back({change.id, change.deleted, std::string(change.key), std::string(change.value), change.create,
                        change.version, change.lease});
  }

  std::size_t size() const { return changes_.size(); }
  Change At(std::size_t position) const {
    const Owned& owned = changes_[position];
    return {owned.id, owned.deleted, owned.key, owned.value, owned.create, owned.version, owned.lease};
  }

  /// Returns the index of the first change with this id or a later one.
  std::size_t LowerBound(ChangeId id) const {
    if (changes_.empty() || id <= changes_.front().id) return 0;
    // Most transactions make one change, so the distance of revisions is a good estimate of the index.
    const auto guess = static_cast<std::size_t>(id.main - changes_.front().id.main);
    if (guess < changes_.size() && changes_[guess].id == id) return guess;
    std::size_t low = 0, high = changes_.size();
    while (low < high) {
      const std::size_t middle = (low + high) / 2;
      if (changes_[middle].id < id) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  const std::string* Value(ChangeId id) const {
    const std::size_t position = LowerBound(id);
    if (position == changes_.size() || changes_[position].id != id) return nullptr;
    return &changes_[position].value;
  }

  /// Returns the first revision from which on all changes are here. If there are no changes, that is the next revision.
  Revision FirstCompleteRevision(Revision newest) const {
    return changes_.empty() ? newest + 1 : changes_.front().id.main;
  }

  /// Removes changes up to `in_base`, oldest first and in complete revisions, while they take more than `keep_bytes`.
  void Trim(Revision in_base, std::size_t keep_bytes) {
    while (!changes_.empty() && bytes_ > keep_bytes && changes_.front().id.main <= in_base) {
      const Revision revision = changes_.front().id.main;
      while (!changes_.empty() && changes_.front().id.main == revision) {
        bytes_ -= changes_.front().key.size() + changes_.front().value.size() + sizeof(Owned);
        changes_.pop_front();
      }
    }
  }

 private:
  struct Owned {
    ChangeId id;
    bool deleted;
    std::string key, value;
    Revision create;
    std::int64_t version;
    LeaseId lease;
  };
  std::deque<Owned> changes_;
  std::size_t bytes_ = 0;
};

}  // namespace apimesh::store
