#pragma once

#include "lib/registry/resource.h"

namespace apimesh::core_api {

/// Events of the core group and of events.k8s.io are the same objects under two sets of field names.
registry::Resource CoreEventResource();
registry::Resource EventResource();

}  // namespace apimesh::core_api
