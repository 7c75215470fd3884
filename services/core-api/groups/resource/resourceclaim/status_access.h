#pragma once

#include <memory>

#include "lib/registry/resource.h"
#include "services/core-api/groups/kind_inputs.h"

namespace apimesh::core_api {

/// Returns the checks of resourceclaims/status. A user needs the permission for resourceclaims/binding to change
/// status.allocation or status.reservedFor, and for resourceclaims/driver, with the name of the driver, to change its
/// entries of status.devices, unless the feature gate of these permissions is off. An allocation with admin access
/// requires the label of the namespace that MakeAdminAccessCheck() describes.
std::shared_ptr<registry::WriteChecks> MakeStatusAccessCheck(meta::Gvk kind, const KindInputs& inputs);

}  // namespace apimesh::core_api
