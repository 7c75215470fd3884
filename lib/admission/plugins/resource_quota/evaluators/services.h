#pragma once

#include "lib/admission/plugins/resource_quota/evaluators/evaluator.h"

namespace apimesh::admission::resource_quota {

/// Counts services, their node ports and their load balancers.
EvaluatorPtr NewServiceEvaluator();

}  // namespace apimesh::admission::resource_quota
