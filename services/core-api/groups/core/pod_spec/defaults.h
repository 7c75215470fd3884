#pragma once

#include "lib/meta/object.h"

namespace apimesh::core_api {

/// Defaults of a pod spec that depend on the rest of it (constant ones are in the schema): image pull policies by tag,
/// volumes without a source. For pods and for templates.
void DefaultPodSpec(meta::json::object& spec);

/// What holds for pods only, not for templates: requests from limits, host ports on the host network, service links.
void DefaultPod(meta::json::object& pod);

/// The tag of an image reference: "latest" if it names neither a tag nor a digest, empty if it names a digest only.
std::string_view ImageTag(std::string_view image);

}  // namespace apimesh::core_api
