#pragma once

#include "lib/admission/all_plugins.h"

namespace apimesh::admission {

/// Rejects resizes of pods that their node can never satisfy.
std::unique_ptr<Plugin> MakePodResizeValidator(const PluginInputs& inputs);

}  // namespace apimesh::admission
