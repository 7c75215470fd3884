#pragma once

#include "lib/service/runtime.h"
#include "lib/stores/stores.h"

namespace apimesh::stores {

/// "etcd" and "etcd-readiness": whether etcd answers, asked every two seconds. The same as "etcd-override-N" and
/// "etcd-override-readiness-N" for those of --etcd-servers-overrides. Of each the size of its database is a metric.
void AddEtcdChecks(service::Runtime& runtime, const Stores& stores);

}  // namespace apimesh::stores
