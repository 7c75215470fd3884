#pragma once

#include "lib/registry/resource.h"

/// Groups of pods that are scheduled together, and the Workloads that describe them, in scheduling.k8s.io/v1alpha2.
namespace apimesh::core_api {

struct KindInputs;

registry::Resource PodGroupResource(const KindInputs& inputs);
registry::Resource WorkloadResource(const KindInputs& inputs);

}  // namespace apimesh::core_api
