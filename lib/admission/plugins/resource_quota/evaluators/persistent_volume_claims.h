#pragma once

#include "lib/admission/plugins/resource_quota/evaluators/evaluator.h"

namespace apimesh::admission::resource_quota {

/// Counts claims and the storage that they request, in total and by storage class. The scope VolumeAttributesClass has
/// the classes that a claim requests, has and changes to.
EvaluatorPtr NewPersistentVolumeClaimEvaluator();

}  // namespace apimesh::admission::resource_quota
