#pragma once

#include "lib/base/async/task.h"
#include "lib/mesh/delegate/delegate.h"
#include "lib/meta/errors/api_error.h"
#include "lib/meta/request/request_context.h"

namespace apimesh::registry {

/// Serves a subresource whose requests are forwarded to another server (exec, log, proxy). Thread-safe. Forward() and
/// Upgrade() send the response themselves. If they return an error, they have sent nothing, and lib/endpoint sends the
/// error.
class Connector {
 public:
  virtual ~Connector() = default;
  /// Serves a request without upgrade, with any method.
  virtual Task<meta::Result<>> Forward(meta::RequestContext ctx, mesh::Request request,
                                       mesh::ResponseStream& stream) = 0;
  /// Serves a request to upgrade the connection.
  virtual Task<meta::Result<>> Upgrade(meta::RequestContext ctx, mesh::Request request,
                                       mesh::ConnectStream& stream) = 0;
  /// Returns whether the subresource only reads (a log). Admission does not run for such requests.
  virtual bool OnlyReads() const { return false; }
};

}  // namespace apimesh::registry
