#pragma once

#include <memory>

#include "lib/base/async/task.h"
#include "lib/storage/entry/shared.h"

namespace apimesh::storage {

/// Compacts etcd once per interval, up to the revision that was current one interval earlier. The replicas, and
/// kube-apiservers that share the etcd, use the key "compact_rev_key" to agree on which of them compacts. Runs until it
/// is cancelled.
Task<> RunCompactor(SharedPtr shared);

}  // namespace apimesh::storage
