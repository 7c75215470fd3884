#pragma once

#include "lib/admission/all_plugins.h"

namespace apimesh::admission {

/// Creates the namespace of a new object if it does not exist.
std::unique_ptr<Plugin> MakeNamespaceAutoProvision(const PluginInputs& inputs);

}  // namespace apimesh::admission
