#pragma once

#include "lib/admission/all_plugins.h"

namespace apimesh::admission {

/// Asks the webhooks of all ValidatingWebhookConfigurations that match the request, in parallel. One of them is enough
/// to reject it.
std::unique_ptr<Plugin> MakeValidatingAdmissionWebhook(const PluginInputs& inputs);

}  // namespace apimesh::admission
