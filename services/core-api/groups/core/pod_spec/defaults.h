#pragma once

#include "lib/meta/object.h"

namespace apimesh::core_api {

/// Sets the defaults of a pod spec that depend on other fields (the schema has the constant ones): image pull policies
/// depend on the tag, and volumes without a source become emptyDir. For pods and for templates.
void DefaultPodSpec(meta::json::object& spec);

/// Sets the defaults that apply to pods only, not to templates: requests from limits, host ports on the host network,
/// service links.
void DefaultPod(meta::json::object& pod);

/// Returns the tag of an image reference: "latest" if it has neither a tag nor a digest, empty if it has a digest only.
std::string_view ImageTag(std::string_view image);

/// The prefix of the deprecated annotations for AppArmor profiles; the name of the container follows.
inline constexpr std::string_view kAppArmorAnnotation = "container.apparmor.security.beta.kubernetes.io/";

/// Returns the profile that the value of an annotation stands for, or an empty object if it is not valid.
meta::json::object AppArmorProfileOf(std::string_view annotation);

}  // namespace apimesh::core_api
