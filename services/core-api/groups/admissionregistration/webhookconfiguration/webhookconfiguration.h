#pragma once

#include "lib/registry/resource.h"

namespace apimesh::core_api {

struct KindInputs;

registry::Resource ValidatingWebhookConfigurationResource(const KindInputs& inputs);
registry::Resource MutatingWebhookConfigurationResource(const KindInputs& inputs);

}  // namespace apimesh::core_api
