#pragma once

#include "lib/endpoint/request.h"

namespace apimesh::endpoint {

/// Upgraded connections to a subresource (exec, attach, proxy, …): admission, then the resource's own handler. Whatever is
/// no such subresource is answered like a Call.
Task<> ServeConnect(EnvironmentPtr env, ServedResourcePtr served, rpc::Request request, std::unique_ptr<rpc::ConnectStream> stream);

}  // namespace apimesh::endpoint
