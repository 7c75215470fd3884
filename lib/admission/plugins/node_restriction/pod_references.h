#pragma once

#include <optional>
#include <string>

#include "lib/meta/object.h"

namespace apimesh::admission::node_restriction {

/// A reference of a pod to another API object.
struct PodReference {
  std::string what;   // "secrets", "persistentvolumeclaims (via ephemeral volumes)"
  std::string error;  // set, with an empty `what`, if the pod has an unknown kind of volume
};
/// Returns the first reference that is found, or nullopt if the pod refers to no other API object.
std::optional<PodReference> FindApiReference(const meta::Object& pod);
/// Returns whether the pod names a Secret: in a volume, in the environment of a container, or as a pull secret.
bool RefersToSecret(const meta::Object& pod);

}  // namespace apimesh::admission::node_restriction
