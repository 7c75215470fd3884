#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/meta/object.h"

/// The gRPC endpoint that an APIService names in an annotation.
namespace apimesh::aggregator {

/// "unix:/path/to/socket" or "host:port".
inline constexpr const char* kEndpointAnnotation = "apimesh.io/grpc-endpoint";

/// Returns the endpoint, or "" if the APIService has none.
std::string EndpointOf(const meta::Object& api_service);
/// Whether the endpoint is a Unix socket; otherwise it is a host with a port.
bool IsSocket(std::string_view endpoint);
/// Returns what is wrong with the text of an endpoint, or "".
std::string CheckEndpoint(std::string_view endpoint);

/// Returns why the aggregator must not connect to an address ("unix:/path" or "ip:port"), or "".
/// An IP address must be a global unicast address, as for proxied requests: an APIService cannot make the aggregator
/// connect to its own machine or its link. A Unix socket must belong to this process's user, in a folder that only this
/// user can enter and that is none of `own_folders`, which have the sockets of the mesh itself.
std::string RefuseAddress(const std::string& address, const std::vector<std::string>& own_folders);

}  // namespace apimesh::aggregator
