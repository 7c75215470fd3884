#pragma once

#include "lib/admission/all_plugins.h"

namespace apimesh::admission {

/// Fills in the default resources of LimitRanges for new pods, and rejects pods and claims outside of the limits.
std::unique_ptr<Plugin> MakeLimitRanger(const PluginInputs& inputs);

}  // namespace apimesh::admission
