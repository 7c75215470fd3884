#pragma once

#include "lib/registry/resource.h"

namespace apimesh::core_api {

struct KindInputs;

/// A request for the state of device pools, in resource.k8s.io/v1alpha3. kube-controller-manager answers it in the
/// status.
registry::Resource ResourcePoolStatusRequestResource(const KindInputs& inputs);

}  // namespace apimesh::core_api
