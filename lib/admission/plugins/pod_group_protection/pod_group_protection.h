#pragma once

#include "lib/admission/all_plugins.h"

namespace apimesh::admission {

/// Adds the finalizer that keeps a PodGroup until no pod uses it.
std::unique_ptr<Plugin> MakePodGroupProtection(const PluginInputs& inputs);

}  // namespace apimesh::admission
