#pragma once

#include "lib/admission/all_plugins.h"

namespace apimesh::admission {

/// Taints new nodes as not ready, so that no pod is scheduled on them before a controller has seen them ready.
std::unique_ptr<Plugin> MakeTaintNodesByCondition(const PluginInputs& inputs);

}  // namespace apimesh::admission
