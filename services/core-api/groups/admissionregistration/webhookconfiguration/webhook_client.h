#pragma once

#include "services/core-api/validation/check.h"

namespace apimesh::core_api {

/// Validates the field "clientConfig" of a webhook: exactly one of url and service is required.
void ValidateWebhookClient(const Check& webhook);

}  // namespace apimesh::core_api
