#pragma once

#include "services/core-api/validation/check.h"

namespace apimesh::core_api {

/// Validates the field "conditions" of a status whose items are metav1.Conditions.
void ValidateConditions(const Check& status);

}  // namespace apimesh::core_api
