#pragma once

#include "lib/admission/all_plugins.h"

namespace apimesh::admission {

/// Rejects writes in namespaces that do not exist.
std::unique_ptr<Plugin> MakeNamespaceExists(const PluginInputs& inputs);

}  // namespace apimesh::admission
