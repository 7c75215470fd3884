#pragma once

#include <functional>
#include <vector>

#include "lib/registry/resource.h"
#include "lib/storage/store.h"

namespace apimesh::core_api {

/// One request to this server's own API, tried once.
using SendObject = std::function<Task<meta::Result<meta::Object>>(std::string method, std::string path, std::string body)>;

/// What a create of pods/eviction does: deletes a pod, if the disruption budget that selects it allows that (429 if not).
registry::Action EvictionAction(storage::StorePtr pods, SendObject send);

/// Takes one disruption of a budget for a pod: the budget as it is to be written, or the reference's refusal.
meta::Result<meta::Object> TakeDisruption(meta::Object budget, std::string_view pod, WallTime now);

}  // namespace apimesh::core_api
