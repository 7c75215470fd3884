#pragma once

#include <cstdint>
#include <memory>

#include "services/aggregator/delegation/deleted_namespaces.h"
#include "services/aggregator/delegation/route_table.h"
#include "services/aggregator/edge/exchange.h"
#include "services/aggregator/health/lifecycle.h"

namespace apimesh::aggregator {

/// Forwards a request to the delegate that serves it, and the response to the client. Watches, logs, lists and requests
/// to external servers are streams; upgraded connections are tunnels, or watches over WebSocket; all other requests are
/// unary calls. Long-running requests are registered with OpenRequests, which ends them when the client loses a
/// permission.
class Forwarder {
 public:
  /// `tunnel_bytes_per_second` limits each direction of an upgraded connection; 0: no limit.
  Forwarder(std::shared_ptr<RouteTable> routes, std::shared_ptr<Lifecycle> lifecycle,
            std::shared_ptr<OpenRequests> open_requests, std::int64_t tunnel_bytes_per_second = 0)
      : routes_(std::move(routes)),
        lifecycle_(std::move(lifecycle)),
        open_requests_(std::move(open_requests)),
        tunnel_bytes_per_second_(tunnel_bytes_per_second) {}

  Task<> Forward(Exchange& exchange);

 private:
  Task<> ForwardStream(Exchange& exchange, mesh::DelegateClient& client, mesh::Request request);
  Task<> ForwardConnection(Exchange& exchange, mesh::DelegateClient& client, mesh::Request request);

  /// Sends a unary call, and remembers the namespace that it deletes.
  Task<mesh::Response> Call(Exchange& exchange, mesh::DelegateClient& client, mesh::Request&& request);

  DeletedNamespaces deleted_namespaces_;
  std::shared_ptr<RouteTable> routes_;
  std::shared_ptr<Lifecycle> lifecycle_;
  std::shared_ptr<OpenRequests> open_requests_;
  const std::int64_t tunnel_bytes_per_second_;
};

}  // namespace apimesh::aggregator
