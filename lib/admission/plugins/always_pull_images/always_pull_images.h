#pragma once

#include "lib/admission/all_plugins.h"

namespace apimesh::admission {

/// Sets the pull policy of all containers and image volumes to Always, so that a node does not start an image that was
/// pulled with the credentials of another pod.
std::unique_ptr<Plugin> MakeAlwaysPullImages(const PluginInputs& inputs);

}  // namespace apimesh::admission
