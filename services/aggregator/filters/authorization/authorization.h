#pragma once

#include "services/aggregator/filters/inputs.h"

namespace apimesh::aggregator {

/// Asks authn-authz whether the user may make the request, and answers 403 if not.
std::shared_ptr<Filter> MakeAuthorization(const FilterInputs& inputs);

}  // namespace apimesh::aggregator
