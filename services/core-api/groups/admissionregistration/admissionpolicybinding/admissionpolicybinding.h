#pragma once

#include "lib/registry/resource.h"

namespace apimesh::core_api {

struct KindInputs;

registry::Resource ValidatingAdmissionPolicyBindingResource(const KindInputs& inputs);
registry::Resource MutatingAdmissionPolicyBindingResource(const KindInputs& inputs);

}  // namespace apimesh::core_api
