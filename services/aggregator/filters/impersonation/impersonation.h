#pragma once

#include "services/aggregator/filters/inputs.h"

namespace apimesh::aggregator {

/// Replaces the user of the request by the one that the Impersonate-* headers name, if the user may impersonate it.
std::shared_ptr<Filter> MakeImpersonation(const FilterInputs& inputs);

}  // namespace apimesh::aggregator
