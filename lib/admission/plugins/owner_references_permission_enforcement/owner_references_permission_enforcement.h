#pragma once

#include "lib/admission/all_plugins.h"

namespace apimesh::admission {

/// Requires the right to delete an object for changes of its owner references, and the right to update the finalizers
/// of an owner for references that block its deletion.
std::unique_ptr<Plugin> MakeOwnerReferencesPermissionEnforcement(const PluginInputs& inputs);

}  // namespace apimesh::admission
