#pragma once

#include "lib/registry/resource.h"
#include "lib/storage/store.h"

namespace apimesh::core_api {

/// What a create of bindings and of pods/binding does: gives a pod the node in its target. A pod that has a node, has
/// scheduling gates or is being deleted is a conflict.
registry::Action BindingAction(storage::StorePtr pods);

}  // namespace apimesh::core_api
