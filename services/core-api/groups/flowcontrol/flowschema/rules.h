#pragma once

#include "services/core-api/validation/check.h"

namespace apimesh::core_api {

/// Validates a rule of a FlowSchema: subjects, resource rules and non-resource rules.
void ValidateFlowRule(const Check& rule);

}  // namespace apimesh::core_api
