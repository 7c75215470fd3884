#pragma once

#include "lib/endpoint/request.h"

/// Serves requests to a subresource that another server answers (exec, log, proxy): runs admission, then the Connector
/// of the subresource.
namespace apimesh::endpoint {

/// Serves a request without upgrade. The caller has checked that ConnectorOf() is not nullptr.
Task<> ServeForward(RequestPtr request, mesh::ResponseStream& stream);
/// Serves an upgrade request. If the subresource has no Connector, the response is that of Serve().
Task<> ServeConnect(std::shared_ptr<ResourceRequest> request, std::unique_ptr<mesh::ConnectStream> stream);

}  // namespace apimesh::endpoint
