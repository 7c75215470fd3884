#pragma once

#include "lib/base/task.h"
#include "lib/meta/api_error.h"
#include "lib/meta/request_context.h"
#include "lib/rpc/delegate.h"

namespace apimesh::endpoint {

/// A subresource whose requests are passed on to another server (exec, log, proxy). Thread-safe. Both functions answer
/// themselves; an error means that nothing has been sent yet, and the engine sends it.
class Connector {
 public:
  virtual ~Connector() = default;
  /// A plain request with any method.
  virtual Task<meta::Result<>> Forward(meta::RequestContext ctx, rpc::Request request, rpc::ResponseStream& stream) = 0;
  /// A request to upgrade the connection.
  virtual Task<meta::Result<>> Upgrade(meta::RequestContext ctx, rpc::Request request, rpc::ConnectStream& stream) = 0;
  /// A mere read (a log), which admission is not asked about.
  virtual bool OnlyReads() const { return false; }
};

}  // namespace apimesh::endpoint
