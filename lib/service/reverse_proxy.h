#pragma once

#include <string>

#include "lib/http/client.h"
#include "lib/mesh/delegate/delegate.h"

/// Forwards requests of the mesh to an HTTP server outside of it.
namespace apimesh::service {

/// A request to the other server. `url` includes the path and the query.
struct Outgoing {
  std::string method;
  std::string url;
  http::Headers headers;
  std::string body;
  SteadyTime deadline = SteadyTime::max();
};

/// The headers of a request that are forwarded to the other server. Hop-by-hop headers, credentials, and headers that
/// name a user or belong to the mesh are removed, also if they are written with underscores, because many servers read
/// "x_remote_user" as "x-remote-user".
http::Headers PassedOn(const mesh::Headers& headers, bool upgrade);

/// Removes the headers of a response that must not reach the client: hop-by-hop headers, headers of the mesh, and
/// headers that would set a policy for the API server's host (CORS, Strict-Transport-Security).
void CleanAnswer(http::Headers& headers, bool upgrade);

/// Whether the response redirects the client.
bool IsRedirect(int code, const http::Headers& headers);

/// Streams the response into `stream` until it ends or its reader goes away. If an error is returned, nothing was sent
/// yet. If the response breaks off later, `stream.Abort()` is called.
Task<http::ClientResult<>> StreamTo(std::shared_ptr<http::Client> client, Outgoing request,
                                    mesh::ResponseStream& stream);

/// Sends an upgrade request. Returns the head of the response and, after 101, the connection. A response below 400
/// other than 101, such as a redirect, is an error (kUpgradeRefused). The message of an error can be returned to the
/// client as it is.
Task<http::ClientResult<mesh::Connection>> ConnectTo(std::shared_ptr<http::Client> client, Outgoing request);

/// Copies bytes in both directions until both have ended.
Task<> Tunnel(mesh::ByteStream& one, mesh::ByteStream& other);

}  // namespace apimesh::service
