#pragma once

#include "lib/base/task.h"
#include "services/aggregator/edge/exchange.h"

namespace apimesh::aggregator {

/// Reads the request's body into `exchange.body`. To be called when the request is authenticated and authorized, by whoever
/// needs the body. False: it can't be read, and the client has been answered.
Task<bool> ReadBody(Exchange& exchange);

}  // namespace apimesh::aggregator
