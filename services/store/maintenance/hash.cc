#include "services/store/maintenance/hash.h"

#include <algorithm>

#include "services/store/bolt/etcd_snapshot.h"

namespace apimesh::store {
namespace {

bool AnyKeyAt(const KeyIndex& index, Revision revision) {
  bool any = false;
  index.Walk(std::string_view("\0", 1), std::string_view("\0", 1), [&](const KeyIndex::Entry& entry) {
    any = entry.At(revision) != nullptr;
    return !any;
  });
  return any;
}

}  // namespace

std::vector<ChangeId> SupersededVersions(const KeyIndex& index, Revision compacted, Revision revision) {
  std::vector<ChangeId> superseded;
  // etcd treats an empty set of versions to keep as "no compaction": then it includes everything that a compaction
  // leaves.
  if (!AnyKeyAt(index, revision)) revision = compacted;
  index.Walk(std::string_view("\0", 1), std::string_view("\0", 1), [&](const KeyIndex::Entry& entry) {
    const auto& versions = entry.versions;
    for (std::size_t i = 0; i < versions.size() && versions[i].id.main <= compacted; ++i) {
      const bool replaced = i + 1 < versions.size() && versions[i + 1].id.main <= revision;
      if (replaced || versions[i].deleted) superseded.push_back(versions[i].id);
    }
    return true;
  });
  std::ranges::sort(superseded);
  return superseded;
}

std::uint32_t HashKv(const Base::View& view, Revision compacted, Revision revision,
                     const std::vector<ChangeId>& superseded) {
  std::uint32_t hash = Crc32c(0, "key");
  view.Scan({}, true, [&](const Change& change) {
    if (change.id.main > revision) return false;
    if (change.id.main <= compacted && std::ranges::binary_search(superseded, change.id)) return true;
    hash = Crc32c(Crc32c(hash, EtcdRevisionKey(change)), EtcdRecord(change));
    return true;
  });
  return hash;
}

}  // namespace apimesh::store
