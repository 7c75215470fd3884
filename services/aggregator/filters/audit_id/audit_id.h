#pragma once

#include "services/aggregator/filters/inputs.h"

namespace apimesh::aggregator {

/// Gives every request an id, which is sent to the client in the header Audit-ID. An id that the client sends is used.
std::shared_ptr<Filter> MakeAuditId(const FilterInputs& inputs);

}  // namespace apimesh::aggregator
