#pragma once

#include "services/aggregator/delegation/route_table.h"
#include "services/aggregator/edge/exchange.h"
#include "services/aggregator/health/lifecycle.h"
#include "services/aggregator/watches/watch_query.h"

namespace apimesh::aggregator {

/// A watch that shares its upstream with all others of its kind: the client catches up alone, then joins them; when they
/// lose their upstream or the client can't keep up, it goes on alone from where it stands.
Task<> ForwardWatch(Exchange& exchange, const Delegate& delegate, rpc::Request request, WatchQuery query,
                    Lifecycle& lifecycle, OpenRequests& open_requests);

}  // namespace apimesh::aggregator
