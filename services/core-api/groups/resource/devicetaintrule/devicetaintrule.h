#pragma once

#include "lib/registry/resource.h"

namespace apimesh::core_api {

struct KindInputs;

/// A taint of devices, in resource.k8s.io/v1alpha3. v1beta2 has the same fields.
registry::Resource DeviceTaintRuleResource(const KindInputs& inputs);

}  // namespace apimesh::core_api
