#pragma once

#include "lib/meta/object.h"

namespace apimesh::admission::service_account {

/// Mounts a projected volume with a token, the CA certificate and the namespace into every container that has no mount
/// at the path of the token. A volume whose name starts with "kube-api-access-" is used if the pod has one.
void MountToken(meta::json::object& spec);

}  // namespace apimesh::admission::service_account
