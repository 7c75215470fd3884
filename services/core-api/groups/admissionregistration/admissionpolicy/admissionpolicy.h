#pragma once

#include "lib/registry/resource.h"

namespace apimesh::core_api {

struct KindInputs;

registry::Resource ValidatingAdmissionPolicyResource(const KindInputs& inputs);
registry::Resource MutatingAdmissionPolicyResource(const KindInputs& inputs);

}  // namespace apimesh::core_api
