#pragma once

#include "lib/endpoint/connector.h"
#include "services/core-api/connect/kubelets.h"

namespace apimesh::core_api {

/// services/proxy: HTTP to one of the pods behind a service, by its endpoints.
std::shared_ptr<endpoint::Connector> ServiceProxyConnector(ReadObject read);

}  // namespace apimesh::core_api
