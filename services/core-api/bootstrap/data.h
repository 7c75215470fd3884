#pragma once

#include <string_view>
#include <vector>

#include "lib/meta/object.h"

namespace apimesh::core_api {

/// The objects every cluster begins with: files of data/bootstrap, as they were when this was built.
enum class BootstrapFile { kClusterRoles, kClusterRoleBindings, kRoles, kRoleBindings, kFlowSchemas, kPriorityLevels, kPriorityClasses };
std::string_view BootstrapBytes(BootstrapFile file);
std::vector<meta::Object> BootstrapObjects(BootstrapFile file);

}  // namespace apimesh::core_api
