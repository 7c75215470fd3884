#pragma once

#include "lib/service/runtime.h"
#include "lib/service/stores/stores.h"

namespace apimesh::service {

/// Adds the checks "etcd" and "etcd-readiness", which probe etcd every two seconds, and "etcd-override-N" and
/// "etcd-override-readiness-N" for --etcd-servers-overrides. The size of each database is exported as a metric.
void AddEtcdChecks(service::Runtime& runtime, const Stores& stores);

}  // namespace apimesh::service
