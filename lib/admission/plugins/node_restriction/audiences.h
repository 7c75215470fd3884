#pragma once

#include <string>

#include "lib/admission/plugins/node_restriction/cluster_reader.h"

namespace apimesh::admission::node_restriction {

/// Returns whether a volume of the pod requests tokens for this audience: a projected token, or a CSI volume whose
/// driver requests such tokens. Returns an error if no volume does and a claim, volume or driver could not be read.
Task<meta::Result<bool>> PodAsksForAudience(meta::RequestContext ctx, const ClusterReader& reader,
                                            const meta::Object& pod, std::string audience);

}  // namespace apimesh::admission::node_restriction
