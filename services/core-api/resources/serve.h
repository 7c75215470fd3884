#pragma once

#include <map>
#include <string>
#include <vector>

#include "lib/admission/chain.h"
#include "lib/endpoint/group_server.h"
#include "lib/registry/resource.h"
#include "lib/storage/backend.h"

namespace apimesh::core_api {

/// By resource and subresource: "pods/exec".
using Connectors = std::map<std::string, std::shared_ptr<endpoint::Connector>>;
/// By resource: "roles.rbac.authorization.k8s.io".
using ChecksByResource = std::map<std::string, std::shared_ptr<endpoint::WriteChecks>>;

/// What resources are served with besides what they are.
struct Surroundings {
  admission::ChainPtr admission;
  Connectors connectors;
  ChecksByResource checks;
};

/// Opens a store for every resource that has objects and puts all into their group-versions, with the priorities of the
/// table. `opened` are stores that others needed before, by their prefix
/// (or resource, where nothing is stored): namespaces for admission, addresses for services.
using OpenedStores = std::map<std::string, storage::StorePtr>;
std::vector<endpoint::ServedVersion> ServeAll(std::vector<registry::Resource> resources, storage::Backend& backend,
                                              const OpenedStores& opened, const Surroundings& surroundings);

}  // namespace apimesh::core_api
