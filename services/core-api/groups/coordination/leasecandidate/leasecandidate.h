#pragma once

#include "lib/registry/resource.h"

namespace apimesh::core_api {

struct KindInputs;

/// A candidate of coordinated leader election, in coordination.k8s.io/v1beta1. v1alpha2 has the same fields.
registry::Resource LeaseCandidateResource(const KindInputs& inputs);

}  // namespace apimesh::core_api
