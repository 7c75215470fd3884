#pragma once

#include "lib/registry/resource.h"
#include "lib/storage/store.h"
#include "services/core-api/own_api.h"

namespace apimesh::core_api {

/// Returns the action of a create of pods/eviction: it deletes a pod if the disruption budget that selects the pod
/// allows it, and returns 429 if not.
registry::Action EvictionAction(storage::StorePtr pods, SendObject send, const Clock* clock);

/// Charges one disruption for a pod to a budget. Returns the budget to write, or the error that kube-apiserver returns.
meta::Result<meta::Object> TakeDisruption(meta::Object budget, std::string_view pod, WallTime now);

}  // namespace apimesh::core_api
