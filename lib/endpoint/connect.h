#pragma once

#include "lib/endpoint/request.h"

/// Requests to a subresource that another server answers (exec, log, proxy): admission, then the subresource's Connector.
namespace apimesh::endpoint {

/// A plain request. The caller has checked that its subresource has a Connector and the verb.
Task<> ServeForward(RequestPtr request, rpc::ResponseStream& stream);
/// A request to upgrade. Whatever is no such subresource is answered like a Call.
Task<> ServeConnect(std::shared_ptr<ResourceRequest> request, std::unique_ptr<rpc::ConnectStream> stream);

}  // namespace apimesh::endpoint
