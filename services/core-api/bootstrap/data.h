#pragma once

#include <string_view>
#include <vector>

#include "lib/features/feature_gates.h"
#include "lib/meta/object.h"

namespace apimesh::core_api {

/// Files of data/bootstrap, embedded at build time. They contain the objects that every new cluster starts with.
enum class BootstrapFile {
  kClusterRoles,
  kClusterRoleBindings,
  kRoles,
  kRoleBindings,
  kFlowSchemas,
  kPriorityLevels,
  kPriorityClasses,
  kGatedPolicy
};
std::string_view BootstrapBytes(BootstrapFile file);
std::vector<meta::Object> BootstrapObjects(BootstrapFile file);
/// Returns the cluster roles or their bindings as they are with these feature gates. The other files have them for the
/// defaults of the gates. An element of kGatedPolicy is, for one gate, an object that exists only if the gate is on
/// (`object`, or `name` of an object in another file), or a part of a role: a rule, which comes after the rules without
/// a gate, or a URL.
std::vector<meta::Object> ClusterPolicy(BootstrapFile file, const features::FeatureGates& gates);

}  // namespace apimesh::core_api
