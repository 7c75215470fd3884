#pragma once

#include "lib/registry/resource.h"

namespace apimesh::registry {

/// Returns the kind that validation errors name. Like kube-apiserver's, they name the kind as it is stored, which has
/// another group for events.
inline meta::GroupKind KindOfErrors(const Resource& resource) {
  return resource.storage_gvk.kind.empty() ? resource.gvk.GroupKind() : resource.storage_gvk.GroupKind();
}

}  // namespace apimesh::registry
