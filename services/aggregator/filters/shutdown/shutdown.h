#pragma once

#include "services/aggregator/filters/inputs.h"

namespace apimesh::aggregator {

/// Refuses new requests while the process is shutting down, except health checks.
std::shared_ptr<Filter> MakeShutdown(const FilterInputs& inputs);

}  // namespace apimesh::aggregator
