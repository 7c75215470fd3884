#pragma once

#include "services/aggregator/delegation/route_table.h"
#include "services/aggregator/edge/exchange.h"
#include "services/aggregator/health/lifecycle.h"
#include "services/aggregator/watches/watch_query.h"

namespace apimesh::aggregator {

/// Serves a watch that shares its upstream stream with all identical watches. The client catches up with its own
/// request and then joins the shared watch. If the shared watch loses its upstream, the resource gets another server,
/// or the client is too slow, the client catches up again from its resume position.
Task<> ForwardWatch(Exchange& exchange, std::shared_ptr<RouteTable> routes, mesh::Request request, WatchQuery query,
                    Lifecycle& lifecycle, OpenRequests& open_requests);

}  // namespace apimesh::aggregator
