#pragma once

#include "lib/admission/all_plugins.h"

namespace apimesh::admission {

/// Rejects the growth of claims that are not bound, or whose storage class does not allow it.
std::unique_ptr<Plugin> MakePersistentVolumeClaimResize(const PluginInputs& inputs);

}  // namespace apimesh::admission
