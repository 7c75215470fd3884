#pragma once

#include <memory>
#include <string>

#include "lib/storage/filter.h"
#include "lib/storage/watch_cache/watch_cache.h"

namespace apimesh::storage {

/// A list over a snapshot: holds the snapshot and the place reached, nothing else.
class SnapshotCursor final : public ListCursor {
 public:
  struct Range {
    std::string start;            // first key; "" with the filter's prefix: from its beginning
    std::int64_t limit = 0;       // 0: all
    /// Of a snapshot that has only the first part of what etcd has: the keys beyond it.
    std::int64_t beyond = 0;
  };
  /// `narrowed`: of `snapshot`.
  SnapshotCursor(SnapshotPtr snapshot, Filter filter, Range range, WatchCache::Narrowed narrowed = {});

  Revision At() const override { return snapshot_->revision; }
  std::vector<EntryPtr> Next(std::size_t max) override;
  std::string ContinueToken() const override { return token_; }
  std::optional<std::int64_t> Remaining() const override { return remaining_; }

 private:
  void EndPage(const std::string& last);

  const SnapshotPtr snapshot_;
  const Tree& walked_;  // belongs to snapshot_
  const bool exact_;    // all that is walked matches
  const Filter filter_;
  Range range_;
  std::string position_;
  std::int64_t given_ = 0;
  bool done_ = false;
  std::string token_;
  std::optional<std::int64_t> remaining_;
};

}  // namespace apimesh::storage
