#pragma once

#include "lib/registry/connector.h"
#include "services/core-api/connect/kubelets.h"

namespace apimesh::core_api {

/// Returns the connector of nodes/proxy, which forwards to the node's kubelet or to another port of the node.
std::shared_ptr<registry::Connector> NodeProxyConnector(KubeletsPtr kubelets, std::shared_ptr<http::Client> client);

}  // namespace apimesh::core_api
