#pragma once

#include "lib/admission/all_plugins.h"

namespace apimesh::admission {

/// Adds the default tolerations of the namespace or of its configuration to new pods, and rejects pods with tolerations
/// that the namespace or the configuration does not allow.
std::unique_ptr<Plugin> MakePodTolerationRestriction(const PluginInputs& inputs);

}  // namespace apimesh::admission
