#pragma once

#include "lib/registry/resource.h"

namespace apimesh::core_api {

struct KindInputs;

/// Events of the core group and of events.k8s.io are the same objects under two sets of field names.
registry::Resource CoreEventResource(const KindInputs& inputs);
registry::Resource EventResource(const KindInputs& inputs);

}  // namespace apimesh::core_api
