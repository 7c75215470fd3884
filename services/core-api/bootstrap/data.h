#pragma once

#include <string_view>
#include <vector>

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
  kPriorityClasses
};
std::string_view BootstrapBytes(BootstrapFile file);
std::vector<meta::Object> BootstrapObjects(BootstrapFile file);

}  // namespace apimesh::core_api
