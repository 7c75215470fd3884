#pragma once

#include "services/aggregator/filters/inputs.h"

namespace apimesh::aggregator {

/// Writes the audit event of a request that a filter refuses before the filter "audit" has seen it.
std::shared_ptr<Filter> MakeRefusalAudit(const FilterInputs& inputs);

}  // namespace apimesh::aggregator
