#pragma once

#include "lib/registry/resource.h"

namespace apimesh::core_api {

struct KindInputs;

/// The versions in which API servers store a resource, in internal.apiserver.k8s.io/v1alpha1.
registry::Resource StorageVersionResource(const KindInputs& inputs);

}  // namespace apimesh::core_api
