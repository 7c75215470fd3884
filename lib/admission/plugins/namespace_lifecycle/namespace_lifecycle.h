#pragma once

#include <memory>

#include "lib/admission/all_plugins.h"

namespace apimesh::admission {

/// Rejects creates and updates in namespaces that do not exist, creates in namespaces that are being deleted, and the
/// deletion of the three namespaces that every cluster needs.
std::unique_ptr<Plugin> MakeNamespaceLifecycle(const PluginInputs& inputs);

}  // namespace apimesh::admission
