#pragma once

#include "lib/admission/plugins/resource_quota/evaluators/evaluator.h"

namespace apimesh::admission::resource_quota {

/// Counts the objects of any resource, built-in or custom. ConfigMaps, quotas, replication controllers and secrets also
/// have names without the prefix "count/".
EvaluatorPtr NewObjectCountEvaluator(const meta::GroupResource& resource);

}  // namespace apimesh::admission::resource_quota
