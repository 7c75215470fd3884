#pragma once

#include "lib/admission/all_plugins.h"

namespace apimesh::admission {

/// Copies the zone and the region of the node to pods that are created with a node or bound to one.
std::unique_ptr<Plugin> MakePodTopologyLabels(const PluginInputs& inputs);

}  // namespace apimesh::admission
