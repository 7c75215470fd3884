#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "services/store/durability/base.h"
#include "services/store/mvcc/key_index.h"

namespace apimesh::store {

/// Returns the versions of `compacted` or earlier that a reader at `revision` no longer sees. etcd excludes them from
/// its hash, whether it has erased them or not.
std::vector<ChangeId> SupersededVersions(const KeyIndex& index, Revision compacted, Revision revision);

/// etcd's HashKV: the CRC-32C of the records up to `revision`. Equal histories have equal hashes in both
/// implementations.
std::uint32_t HashKv(const Base::View& view, Revision compacted, Revision revision,
                     const std::vector<ChangeId>& superseded);

}  // namespace apimesh::store
