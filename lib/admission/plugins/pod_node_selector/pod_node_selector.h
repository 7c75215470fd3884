#pragma once

#include "lib/admission/all_plugins.h"

namespace apimesh::admission {

/// Adds the node selector of the namespace to new pods, and rejects pods whose selector contradicts it or is not in the
/// list of selectors that its configuration allows for the namespace.
std::unique_ptr<Plugin> MakePodNodeSelector(const PluginInputs& inputs);

}  // namespace apimesh::admission
