#pragma once

#include "lib/admission/all_plugins.h"

namespace apimesh::admission {

/// Rejects PodGroups whose Workload does not exist or does not have the template that they name.
std::unique_ptr<Plugin> MakePodGroupWorkloadExists(const PluginInputs& inputs);

}  // namespace apimesh::admission
