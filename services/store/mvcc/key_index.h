#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <absl/container/btree_map.h>
#include <absl/container/inlined_vector.h>

#include "services/store/mvcc/revision.h"

namespace apimesh::store {

/// The state of a key after one change, without the value.
struct KeyVersion {
  ChangeId id;
  bool deleted = false;
  Revision create = 0;
  std::int64_t version = 0;
  LeaseId lease = 0;
};

/// All keys in order, each with its versions since the last compaction. Must be used on the loop thread only.
class KeyIndex {
 public:
  struct Entry {
    std::string key;
    absl::InlinedVector<KeyVersion, 1> versions;  // oldest first
    std::uint32_t in_garbage_queue = 0;

    /// Returns the version that a reader at `revision` sees; null if the key did not exist at that revision.
    const KeyVersion* At(Revision revision) const;
  };

  /// Adds a change; ids must increase. Returns the lease of the previous version; 0 if it had none.
  LeaseId Apply(const Change& change);
  const Entry* Find(std::string_view key) const;

  /// Visits the keys in [key, end) in order until `visit(entry)` returns false. `end` empty: only that key; "\0": until
  /// the last key.
  template <class Visit>
  void Walk(std::string_view key, std::string_view end, Visit visit) const {
    if (end.empty()) {
      if (const Entry* entry = Find(key)) visit(*entry);
      return;
    }
    const bool to_the_end = end.size() == 1 && end[0] == '\0';
    for (auto it = keys_.lower_bound(key); it != keys_.end() && (to_the_end || it->first < end); ++it) {
      if (!visit(*it->second.entry)) return;
    }
  }

  /// Returns the number of keys in (after, end) that exist at `revision`. A page of a long list needs this for all keys
  /// after the page, so the function uses the tree and reads only entries that have changed since `revision`.
  std::int64_t CountAfter(std::string_view after, std::string_view end, Revision revision) const;

  /// Removes versions that no reader at `revision` or later can see, of at most `bound` keys, and adds their ids to
  /// `dropped`. Deletions at `revision` itself are kept, because a watch may start there. Returns true if nothing is
  /// left to remove.
  bool Compact(Revision revision, std::size_t bound, std::vector<ChangeId>& dropped);
  std::size_t size() const { return keys_.size(); }

 private:
  struct Garbage {
    Revision since;  // the revision that made an older version, or this one, garbage
    Entry* entry;
  };
  struct Slot {
    std::unique_ptr<Entry> entry;
    Revision newest = 0;  // of the newest version
    bool exists = false;  // the newest version is not a deletion
  };
  void CompactEntry(Entry& entry, Revision revision, std::vector<ChangeId>& dropped);

  absl::btree_map<std::string_view, Slot> keys_;  // the views point into the entries
  std::deque<Garbage> garbage_;                   // oldest first
  std::vector<Garbage> kept_;                     // deletions at exactly the revision of the running compaction
};

}  // namespace apimesh::store
