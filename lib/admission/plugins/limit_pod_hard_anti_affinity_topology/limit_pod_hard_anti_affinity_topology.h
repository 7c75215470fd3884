#pragma once

#include "lib/admission/all_plugins.h"

namespace apimesh::admission {

/// Rejects pods that must not run beside other pods anywhere but on the same node.
std::unique_ptr<Plugin> MakeLimitPodHardAntiAffinityTopology(const PluginInputs& inputs);

}  // namespace apimesh::admission
