#pragma once

#include "lib/registry/resource.h"
#include "lib/storage/store.h"

namespace apimesh::core_api {

struct KindInputs;

/// Returns the action of a create of bindings and pods/binding: it assigns the node in the target to a pod. A pod that
/// has a node, has scheduling gates or is being deleted is a conflict.
registry::Action BindingAction(storage::StorePtr pods, const Clock* clock);

/// Returns the resource "bindings", whose create does the same as that of pods/binding.
registry::Resource BindingResource(const KindInputs& inputs);

}  // namespace apimesh::core_api
