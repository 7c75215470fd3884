#pragma once

#include "lib/registry/connector.h"
#include "services/core-api/connect/kubelets.h"

namespace apimesh::core_api {

/// Returns the connector of services/proxy, which forwards HTTP to one of the pods in the endpoints of a service.
std::shared_ptr<registry::Connector> ServiceProxyConnector(ReadObject read, std::shared_ptr<http::Client> client);

}  // namespace apimesh::core_api
