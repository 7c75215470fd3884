#pragma once

#include "lib/endpoint/connector.h"
#include "lib/service/auth_client.h"
#include "services/core-api/connect/kubelets.h"

namespace apimesh::core_api {

// pods/exec, pods/attach and pods/portforward: a two-way stream from the client to the pod's kubelet. Whoever asks by GET
// (a WebSocket) needs the right to create as well, as one who asks by POST does.
std::shared_ptr<endpoint::Connector> ExecConnector(ReadObject read, KubeletsPtr kubelets, service::AuthClientPtr auth);
std::shared_ptr<endpoint::Connector> AttachConnector(ReadObject read, KubeletsPtr kubelets, service::AuthClientPtr auth);
std::shared_ptr<endpoint::Connector> PortForwardConnector(ReadObject read, KubeletsPtr kubelets, service::AuthClientPtr auth);
/// pods/log: what the kubelet has of a container's output. Nothing (204) for a pod without a node.
std::shared_ptr<endpoint::Connector> LogConnector(ReadObject read, KubeletsPtr kubelets);
/// pods/proxy: HTTP to a port of the pod.
std::shared_ptr<endpoint::Connector> PodProxyConnector(ReadObject read);

}  // namespace apimesh::core_api
