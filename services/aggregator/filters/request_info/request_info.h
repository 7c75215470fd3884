#pragma once

#include "services/aggregator/filters/inputs.h"

namespace apimesh::aggregator {

/// Parses the method, path and query of the request. Answers 400 if the path is ambiguous.
std::shared_ptr<Filter> MakeRequestInfo(const FilterInputs& inputs);

}  // namespace apimesh::aggregator
