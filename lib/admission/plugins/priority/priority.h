#pragma once

#include "lib/admission/all_plugins.h"

namespace apimesh::admission {

/// Sets the priority and the preemption policy of new pods from their PriorityClass, or from the class that is marked
/// as the global default. Rejects a second global default.
std::unique_ptr<Plugin> MakePriority(const PluginInputs& inputs);

}  // namespace apimesh::admission
