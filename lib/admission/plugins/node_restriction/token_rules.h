#pragma once

#include <string>

#include "lib/admission/plugin.h"
#include "lib/admission/plugins/node_restriction/cluster_reader.h"
#include "lib/service/auth_client.h"

namespace apimesh::admission::node_restriction {

struct TokenRules {
  const ClusterReader& reader;
  service::AuthClientPtr auth;  // without it, no node is authorized for audiences that no volume requests
  bool checks_audiences = true;
};

/// Checks a write to a service account or to one of its subresources. A node may request a token that is bound to a pod
/// on that node, for an audience that the pod's volumes request or that the node is authorized for. `attributes` and
/// the reader must outlive the coroutine.
Task<meta::Result<>> CheckServiceAccount(meta::RequestContext ctx, TokenRules rules, std::string node,
                                         const Attributes& attributes);

}  // namespace apimesh::admission::node_restriction
