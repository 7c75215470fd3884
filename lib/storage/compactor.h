#pragma once

#include <memory>

#include "lib/base/task.h"
#include "lib/storage/shared.h"

namespace apimesh::storage {

/// Every interval, lets etcd forget what is older than the interval before. Replicas (and kube-apiservers on the same etcd)
/// agree through the key "compact_rev_key" on who does it. Ends by cancellation.
Task<> CompactForEver(SharedPtr shared);

}  // namespace apimesh::storage
