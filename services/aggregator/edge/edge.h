#pragma once

#include <memory>

#include "lib/http/server.h"
#include "services/aggregator/edge/client_identity.h"
#include "services/aggregator/filters/filter.h"

namespace apimesh::aggregator {

/// Returns the handler of one listener, which turns each HTTP request into an Exchange and runs the filters.
http::Handler EdgeHandler(Listener listener, std::shared_ptr<const Filters> filters, const Clock& clock);

}  // namespace apimesh::aggregator
