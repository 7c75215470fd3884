#pragma once

#include <vector>

#include "lib/endpoint/group_server.h"
#include "lib/features/feature_gates.h"
#include "lib/service/runtime.h"

namespace apimesh::core_api {

/// Adds the readiness check "informer-sync", which succeeds when every store has loaded its objects, and the post-start
/// hooks that wait for stores: "start-apiserver-admission-initializer" for those that admission plugins read
/// (`read_by_plugins`), "generic-apiserver-start-informers" and "storage-readiness" for all; the latter succeeds after
/// `storage_timeout` in any case.
void AddInformerSync(service::Runtime& runtime, const std::vector<endpoint::ServedVersion>& versions,
                     storage::StorePtr read_by_plugins, const features::FeatureGates& features,
                     std::chrono::milliseconds storage_timeout);

}  // namespace apimesh::core_api
