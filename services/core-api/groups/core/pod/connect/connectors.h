#pragma once

#include "lib/registry/connector.h"
#include "services/core-api/connect/kubelets.h"
#include "services/core-api/groups/kind_inputs.h"

namespace apimesh::core_api {

// Connectors of pods/exec, pods/attach and pods/portforward, which forward a bidirectional stream between the client
// and the pod's kubelet. A WebSocket of the client is translated to SPDY for kubelets that do not declare that they
// speak WebSocket (services/core-api/connect/websocket). A GET request (WebSocket) also requires the permission to
// create, as a POST request does.
std::shared_ptr<registry::Connector> ExecConnector(const KindInputs& inputs);
std::shared_ptr<registry::Connector> AttachConnector(const KindInputs& inputs);
std::shared_ptr<registry::Connector> PortForwardConnector(const KindInputs& inputs);
/// Returns the connector of pods/log, which returns the output of a container from the kubelet. The response is 204 for
/// a pod without a node.
std::shared_ptr<registry::Connector> LogConnector(const KindInputs& inputs);
/// Returns the connector of pods/proxy, which forwards HTTP to a port of the pod.
std::shared_ptr<registry::Connector> PodProxyConnector(ReadObject read, std::shared_ptr<http::Client> client);

}  // namespace apimesh::core_api
