#pragma once

#include "services/aggregator/filters/inputs.h"

namespace apimesh::aggregator {

/// Writes the audit events of a request: when it is received, when a long response starts, when it is complete, and
/// when its handler fails. The policy decides which of them are written.
std::shared_ptr<Filter> MakeAudit(const FilterInputs& inputs);

}  // namespace apimesh::aggregator
