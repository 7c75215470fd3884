#pragma once

#include "lib/admission/all_plugins.h"

namespace apimesh::admission {

/// Asks the webhook in its section of the configuration file whether the images of a pod may run. Answers are cached.
/// Throws std::invalid_argument if there is no section or it is wrong.
std::unique_ptr<Plugin> MakeImagePolicyWebhook(const PluginInputs& inputs);

}  // namespace apimesh::admission
