#pragma once

#include "services/aggregator/filters/inputs.h"
#include "services/aggregator/filters/priority_and_fairness/options.h"

namespace apimesh::aggregator {

/// Lets a request wait until its priority level has seats for it, or rejects it (fairness/README.md).
std::shared_ptr<Filter> MakePriorityAndFairness(const FilterInputs& inputs);

}  // namespace apimesh::aggregator
