#pragma once

#include "lib/admission/all_plugins.h"

namespace apimesh::admission {

/// Gives new pods the overhead and the scheduling rules of the RuntimeClass that they name. Rejects pods whose class
/// does not exist or contradicts them.
std::unique_ptr<Plugin> MakeRuntimeClass(const PluginInputs& inputs);

}  // namespace apimesh::admission
