#pragma once

#include "services/aggregator/filters/inputs.h"

namespace apimesh::aggregator {

/// Turns an exception of a filter below it into a 500 and a line in the log.
std::shared_ptr<Filter> MakePanicRecovery(const FilterInputs& inputs);

}  // namespace apimesh::aggregator
