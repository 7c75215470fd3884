#pragma once

#include "services/core-api/validation/check.h"

namespace apimesh::core_api {

/// Validates requestPolicy of a capacity of a device that can be shared: the amounts that a request may have must be
/// within the capacity, and the default must be one of them.
void ValidateRequestPolicy(const Check& capacity);

}  // namespace apimesh::core_api
