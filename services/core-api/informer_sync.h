#pragma once

#include <vector>

#include "lib/endpoint/group_server.h"
#include "lib/service/health.h"

namespace apimesh::core_api {

/// "informer-sync": every store has its objects.
void AddInformerSync(service::HealthChecks& health, const std::vector<endpoint::ServedVersion>& versions);

}  // namespace apimesh::core_api
