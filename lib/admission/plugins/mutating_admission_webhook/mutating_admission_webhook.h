#pragma once

#include "lib/admission/all_plugins.h"

namespace apimesh::admission {

/// Calls the webhooks of all MutatingWebhookConfigurations that match the request, one after the other, and applies
/// their patches to the object.
std::unique_ptr<Plugin> MakeMutatingAdmissionWebhook(const PluginInputs& inputs);

}  // namespace apimesh::admission
