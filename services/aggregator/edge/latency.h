#pragma once

#include <optional>
#include <string>

#include "services/aggregator/edge/exchange.h"

/// Which parts of a slow request took how long. A request is slow if it takes more than 500 ms, as in kube-apiserver.
namespace apimesh::aggregator {

/// Adds annotations with the latency of a request that is complete to its last audit event if it is slow and not a
/// watch, with the keys of kube-apiserver.
void AnnotateLatency(Exchange& exchange);

/// Returns the log line of a request that took `took`, or nullopt if it is not slow or is long-running. The line has
/// the path without its query.
std::optional<std::string> SlowRequestLine(const Exchange& exchange, Duration took);

}  // namespace apimesh::aggregator
