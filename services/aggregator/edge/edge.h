#pragma once

#include <memory>

#include "lib/http/server.h"
#include "services/aggregator/edge/client_identity.h"
#include "services/aggregator/filters/filter.h"

namespace apimesh::aggregator {

/// The handler of one door: turns an HTTP request into an Exchange and sends it through the filters.
http::Handler EdgeHandler(Door door, std::shared_ptr<const Filters> filters);

}  // namespace apimesh::aggregator
