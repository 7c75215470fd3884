#pragma once

#include "lib/endpoint/connector.h"
#include "services/core-api/connect/kubelets.h"

namespace apimesh::core_api {

/// nodes/proxy: the node's kubelet, or another port of the node.
std::shared_ptr<endpoint::Connector> NodeProxyConnector(KubeletsPtr kubelets);

}  // namespace apimesh::core_api
