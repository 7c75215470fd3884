#pragma once

#include <string>

#include "lib/admission/plugin.h"
#include "lib/admission/plugins/node_restriction/cluster_reader.h"
#include "lib/service/auth_client.h"

namespace apimesh::admission::node_restriction {

/// Checks a write to a service account or to one of its subresources. A node may request a token that is bound to a pod
/// on that node, for an audience that the pod's volumes request or that the node is authorized for. Without `auth`, no
/// node is authorized. `attributes` must outlive the coroutine.
Task<meta::Result<>> CheckServiceAccount(meta::RequestContext ctx, const ClusterReader& reader,
                                         service::AuthClientPtr auth, std::string node, const Attributes& attributes);

}  // namespace apimesh::admission::node_restriction
