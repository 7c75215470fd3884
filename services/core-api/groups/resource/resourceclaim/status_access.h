#pragma once

#include <memory>

#include "lib/registry/resource.h"
#include "lib/service/auth_client.h"
#include "lib/storage/store.h"

namespace apimesh::core_api {

/// Returns the checks of resourceclaims/status. A user needs the permission for resourceclaims/binding to change
/// status.allocation or status.reservedFor, and for resourceclaims/driver, with the name of the driver, to change its
/// entries of status.devices. An allocation with admin access requires the label of the namespace that
/// MakeAdminAccessCheck() describes.
std::shared_ptr<registry::WriteChecks> MakeStatusAccessCheck(meta::Gvk kind, storage::StorePtr namespaces,
                                                             service::AuthClientPtr auth);

}  // namespace apimesh::core_api
