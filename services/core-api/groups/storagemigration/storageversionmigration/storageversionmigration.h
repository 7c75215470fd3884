#pragma once

#include "lib/registry/resource.h"

namespace apimesh::core_api {

struct KindInputs;

/// A request to store all objects of a resource again, in storagemigration.k8s.io/v1beta1. kube-controller-manager
/// executes it.
registry::Resource StorageVersionMigrationResource(const KindInputs& inputs);

}  // namespace apimesh::core_api
