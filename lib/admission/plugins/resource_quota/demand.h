#pragma once

#include <optional>

#include "lib/admission/plugins/resource_quota/evaluators/evaluator.h"

namespace apimesh::admission::resource_quota {

/// Everything about a write that decides whether it fits into the quotas of its namespace. It does not refer to the
/// objects of the request.
struct Demand {
  Attributes request;  // for errors; has no objects
  EvaluatorPtr evaluator;
  Measurement now;
  std::optional<Measurement> before;  // of the stored object, if the write is an update
};

/// Measures the objects of a write.
Demand DemandOf(const Attributes& attributes, EvaluatorPtr evaluator);

}  // namespace apimesh::admission::resource_quota
