#pragma once

#include "lib/admission/all_plugins.h"

namespace apimesh::admission {

/// Lets pods that request extended resources run on nodes with a taint of the same name.
std::unique_ptr<Plugin> MakeExtendedResourceToleration(const PluginInputs& inputs);

}  // namespace apimesh::admission
