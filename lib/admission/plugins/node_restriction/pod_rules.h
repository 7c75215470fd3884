#pragma once

#include <string>

#include "lib/admission/plugin.h"
#include "lib/admission/plugins/node_restriction/cluster_reader.h"

namespace apimesh::admission::node_restriction {

/// Checks a write to a pod or to one of its subresources. `attributes` must outlive the coroutine.
Task<meta::Result<>> CheckPod(meta::RequestContext ctx, const ClusterReader& reader, std::string node,
                              const Attributes& attributes);

/// The annotation of mirror pods. A mirror pod is the API object of a pod that the kubelet runs from a local file.
inline constexpr std::string_view kMirrorPodAnnotation = "kubernetes.io/config.mirror";

}  // namespace apimesh::admission::node_restriction
