#pragma once

#include <memory>

#include "services/aggregator/delegation/route_table.h"
#include "services/aggregator/edge/exchange.h"
#include "services/aggregator/health/lifecycle.h"

namespace apimesh::aggregator {

/// Hands a request to the delegate that serves it, and its answer to the client. Short requests are one call; watches,
/// logs and answers that turn out to be large are streams; upgraded connections are tunnels. Long-running requests are
/// registered with OpenRequests, which ends them when the client may no longer make them.
class Forwarder {
 public:
  Forwarder(std::shared_ptr<RouteTable> routes, std::shared_ptr<Lifecycle> lifecycle,
            std::shared_ptr<OpenRequests> open_requests)
      : routes_(std::move(routes)), lifecycle_(std::move(lifecycle)), open_requests_(std::move(open_requests)) {}

  Task<> Forward(Exchange& exchange);

 private:
  Task<> ForwardStream(Exchange& exchange, rpc::DelegateClient& client, rpc::Request request);
  Task<> ForwardConnection(Exchange& exchange, rpc::DelegateClient& client, rpc::Request request);

  std::shared_ptr<RouteTable> routes_;
  std::shared_ptr<Lifecycle> lifecycle_;
  std::shared_ptr<OpenRequests> open_requests_;
};

}  // namespace apimesh::aggregator
