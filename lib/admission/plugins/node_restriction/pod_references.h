#pragma once

#include <optional>
#include <string>

#include "lib/meta/object.h"

namespace apimesh::admission::node_restriction {

/// What kind of other API object a pod refers to.
struct PodReference {
  std::string what;   // "secrets", "persistentvolumeclaims (via ephemeral volumes)"
  std::string error;  // not empty: the pod has a volume that this version does not know; `what` is empty then
};
/// The first reference found, or nullopt if the pod needs no other object of the API.
std::optional<PodReference> FindApiReference(const meta::Object& pod);

}  // namespace apimesh::admission::node_restriction
