#pragma once

#include "lib/admission/all_plugins.h"

namespace apimesh::admission {

/// Rejects a new parallelism of jobs whose pods are scheduled as a gang.
std::unique_ptr<Plugin> MakeJobValidation(const PluginInputs& inputs);

}  // namespace apimesh::admission
