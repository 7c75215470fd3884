#pragma once

#include <memory>
#include <string>

#include "lib/storage/entry/filter.h"
#include "lib/storage/watch_cache/watch_cache.h"

namespace apimesh::storage {

/// A list over a snapshot. It holds the snapshot and the current position only.
class SnapshotCursor final : public ListCursor {
 public:
  struct Range {
    std::string start;       // the first key; "" with the filter's prefix: from the beginning of the prefix
    std::int64_t limit = 0;  // 0: all
    /// For a snapshot that holds only the first part of etcd's keys: the number of keys after that part.
    std::int64_t beyond = 0;
  };
  /// `candidates` belong to `snapshot`.
  SnapshotCursor(SnapshotPtr snapshot, Filter filter, Range range, WatchCache::Candidates candidates = {});

  Revision At() const override { return snapshot_->revision; }
  std::vector<EntryPtr> Next(std::size_t max) override;
  std::string ContinueToken() const override { return token_; }
  std::optional<std::int64_t> Remaining() const override { return remaining_; }

 private:
  void EndPage(const std::string& last);

  const SnapshotPtr snapshot_;
  const Tree& walked_;  // belongs to snapshot_
  const bool exact_;    // every object in walked_ matches the selectors
  const Filter filter_;
  Range range_;
  std::string position_;
  std::int64_t given_ = 0;
  bool done_ = false;
  std::string token_;
  std::optional<std::int64_t> remaining_;
};

}  // namespace apimesh::storage
