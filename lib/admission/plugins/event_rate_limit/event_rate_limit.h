#pragma once

#include "lib/admission/all_plugins.h"

namespace apimesh::admission {

/// Limits the rate of events of the server, of each namespace, of each user and of each source and object, as its
/// configuration says.
std::unique_ptr<Plugin> MakeEventRateLimit(const PluginInputs& inputs);

}  // namespace apimesh::admission
