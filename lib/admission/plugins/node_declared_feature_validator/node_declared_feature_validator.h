#pragma once

#include "lib/admission/all_plugins.h"

namespace apimesh::admission {

/// Rejects changes of pods that their node does not support.
std::unique_ptr<Plugin> MakeNodeDeclaredFeatureValidator(const PluginInputs& inputs);

}  // namespace apimesh::admission
