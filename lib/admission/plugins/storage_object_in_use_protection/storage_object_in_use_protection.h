#pragma once

#include "lib/admission/all_plugins.h"

namespace apimesh::admission {

/// Adds the finalizers that keep volumes, claims and volume attributes classes until nothing uses them.
std::unique_ptr<Plugin> MakeStorageObjectInUseProtection(const PluginInputs& inputs);

}  // namespace apimesh::admission
