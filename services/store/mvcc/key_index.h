#pragma once

#include <absl/container/btree_map.h>
#include <absl/container/inlined_vector.h>

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "services/store/mvcc/revision.h"

namespace apimesh::store {

/// What one change made of a key, without the value.
struct KeyVersion {
  ChangeId id;
  bool deleted = false;
  Revision create = 0;
  std::int64_t version = 0;
  LeaseId lease = 0;
};

/// All keys in order, each with its versions since the last compaction. Loop thread only.
class KeyIndex {
 public:
  struct Entry {
    std::string key;
    absl::InlinedVector<KeyVersion, 1> versions;  // oldest first
    std::uint32_t in_garbage_queue = 0;

    /// The version that a reader at `revision` sees; null: the key did not exist then.
    const KeyVersion* At(Revision revision) const;
  };

  /// Adds a change; ids only grow. Returns the lease of the version before it; 0: none.
  LeaseId Apply(const Change& change);
  const Entry* Find(std::string_view key) const;

  /// Keys in [key, end) in order, until `visit(entry)` returns false. `end` empty: that key only; "\0": to the end.
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

  /// How many keys in (after, end) exist at `revision`. A page of a long list asks this for all keys behind the page,
  /// so it looks at the tree only and at no entry that has not changed since.
  std::int64_t CountAfter(std::string_view after, std::string_view end, Revision revision) const;

  /// Drops versions that no reader at `revision` or later can see, at most `bound` keys; adds their ids to `dropped`.
  /// Deletions made by `revision` itself stay: a watch may still begin there. True: nothing more to drop.
  bool Compact(Revision revision, std::size_t bound, std::vector<ChangeId>& dropped);
  std::size_t size() const { return keys_.size(); }

 private:
  struct Garbage {
    Revision since;  // the revision that made an older version, or itself, garbage
    Entry* entry;
  };
  struct Slot {
    std::unique_ptr<Entry> entry;
    Revision newest = 0;  // of the newest version
    bool exists = false;  // it is not a deletion
  };
  void CompactEntry(Entry& entry, Revision revision, std::vector<ChangeId>& dropped);

  absl::btree_map<std::string_view, Slot> keys_;  // the views point into the entries
  std::deque<Garbage> garbage_;  // oldest first
  std::vector<Garbage> kept_;    // deletions at the very revision of the compaction that runs
};

}  // namespace apimesh::store
