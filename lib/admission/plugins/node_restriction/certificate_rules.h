#pragma once

#include <string>

#include "lib/admission/plugin.h"
#include "lib/admission/plugins/node_restriction/cluster_reader.h"

namespace apimesh::admission::node_restriction {

/// Checks that a node requests kubelet certificates only in its own name.
meta::Result<> CheckSigningRequest(const std::string& node, const Attributes& attributes);

/// Checks that a node requests certificates only for pods that run on it, with the service accounts of these pods.
/// `reader` and `attributes` must outlive the coroutine.
Task<meta::Result<>> CheckPodCertificateRequest(meta::RequestContext ctx, const ClusterReader& reader, std::string node,
                                                const Attributes& attributes);

}  // namespace apimesh::admission::node_restriction
