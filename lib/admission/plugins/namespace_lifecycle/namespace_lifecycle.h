#pragma once

#include <memory>

#include "lib/admission/all_plugins.h"

namespace apimesh::admission {

/// Refuses new objects in namespaces that do not exist or are being deleted, and the deletion of the three namespaces no
/// cluster can be without.
std::unique_ptr<Plugin> MakeNamespaceLifecycle(const PluginInputs& inputs);

}  // namespace apimesh::admission
