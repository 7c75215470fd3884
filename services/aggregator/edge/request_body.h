#pragma once

#include "lib/base/async/task.h"
#include "services/aggregator/edge/exchange.h"

namespace apimesh::aggregator {

/// Reads the request's body into `exchange.body`. Must be called only after the request is authenticated and
/// authorized. Returns false if the body can't be read; an error response has been sent then.
Task<bool> ReadBody(Exchange& exchange);

}  // namespace apimesh::aggregator
