#pragma once

#include <memory>
#include <vector>

#include "lib/endpoint/group_server.h"
#include "lib/etcd/client.h"
#include "lib/service/runtime.h"

namespace apimesh::core_api {

/// "etcd" and "etcd-readiness": whether etcd answers, asked every two seconds.
void AddEtcdChecks(service::Runtime& runtime, std::shared_ptr<etcd::Client> client);

/// "informer-sync": every store has its objects.
void AddInformerSync(service::HealthChecks& health, const std::vector<endpoint::ServedVersion>& versions);

}  // namespace apimesh::core_api
