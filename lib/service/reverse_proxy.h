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

/// The headers of a request that the other server should see. Left out are the headers of a single connection,
/// credentials, and headers that name a user or belong to the mesh, also when they are written with underscores: many
/// servers read "x_remote_user" as "x-remote-user".
http::Headers PassedOn(const rpc::Headers& headers, bool upgrade);

/// Removes from the headers of an answer what its client must not get from the other server: headers of a single
/// connection, of the mesh, and those that would set a policy for the API server's host (CORS,
/// Strict-Transport-Security).
void CleanAnswer(http::Headers& headers, bool upgrade);

/// Whether the answer sends the client elsewhere.
bool IsRedirect(int code, const http::Headers& headers);

/// Streams the answer into `stream` until it ends or its reader goes. An error: nothing was sent yet. An answer that breaks
/// off later is the stream's Abort().
Task<http::ClientResult<>> StreamTo(std::shared_ptr<http::Client> client, Outgoing request, rpc::ResponseStream& stream);

/// A request to upgrade: the answer's head and, after 101, the bytes. An answer below 400 that is not 101, such as a
/// redirect, is an error (kUpgradeRefused). The error's message is complete.
Task<http::ClientResult<rpc::Connection>> ConnectTo(std::shared_ptr<http::Client> client, Outgoing request);

/// Both directions until both have ended.
Task<> Tunnel(rpc::ByteStream& one, rpc::ByteStream& other);

}  // namespace apimesh::service
