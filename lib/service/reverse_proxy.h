#pragma once

#include <string>

#include "lib/http/client.h"
#include "lib/rpc/delegate.h"

/// Passing requests of the mesh on to an HTTP server outside of it.
namespace apimesh::service {

/// A request on its way out. `url` has the path and the query.
struct Outgoing {
  std::string method;
  std::string url;
  http::Headers headers;
  std::string body;
  SteadyTime deadline = SteadyTime::max();
};

/// The headers that the other server should see: all but those of a single connection, and no credentials of ours.
http::Headers PassedOn(const rpc::Headers& headers, bool upgrade);

/// Streams the answer into `stream` until it ends or its reader goes. An error: nothing was sent yet. An answer that breaks
/// off later is the stream's Abort().
Task<http::ClientResult<>> StreamTo(std::shared_ptr<http::Client> client, Outgoing request, rpc::ResponseStream& stream);

/// A request to upgrade: the answer's head and, after 101, the bytes.
Task<http::ClientResult<rpc::Connection>> ConnectTo(std::shared_ptr<http::Client> client, Outgoing request);

/// Both directions until both have ended.
Task<> Tunnel(rpc::ByteStream& one, rpc::ByteStream& other);

}  // namespace apimesh::service
