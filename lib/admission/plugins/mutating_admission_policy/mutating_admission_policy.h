#pragma once

#include "lib/admission/all_plugins.h"

namespace apimesh::admission {

/// Changes objects as the MutatingAdmissionPolicies say.
std::unique_ptr<Plugin> MakeMutatingAdmissionPolicy(const PluginInputs& inputs);

}  // namespace apimesh::admission
