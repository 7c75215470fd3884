// The bytes of the files of data/bootstrap. Nothing else may be in this file: see CMakeLists.txt.
#include "services/core-api/bootstrap/data.h"

#define APIMESH_EMBED(name, file) \
  "apimesh_boot_" name "_begin:\n.incbin \"" APIMESH_BOOTSTRAP "/" file ".json\"\napimesh_boot_" name "_end:\n"

__asm__(".section .rodata\n"
    APIMESH_EMBED("cluster_roles", "cluster_roles")
    APIMESH_EMBED("cluster_role_bindings", "cluster_role_bindings")
    APIMESH_EMBED("roles", "roles")
    APIMESH_EMBED("role_bindings", "role_bindings")
    APIMESH_EMBED("flow_schemas", "flow_schemas")
    APIMESH_EMBED("priority_levels", "priority_levels")
    APIMESH_EMBED("priority_classes", "priority_classes")
    APIMESH_EMBED("gated_policy", "gated_policy")
    ".byte 0\n"
    ".previous\n");

#define APIMESH_DECLARE(name) extern const char apimesh_boot_##name##_begin[], apimesh_boot_##name##_end[]
#define APIMESH_VIEW(name)                      \
  std::string_view(apimesh_boot_##name##_begin, \
                   static_cast<std::size_t>(apimesh_boot_##name##_end - apimesh_boot_##name##_begin))

extern "C" {
APIMESH_DECLARE(cluster_roles);
APIMESH_DECLARE(cluster_role_bindings);
APIMESH_DECLARE(roles);
APIMESH_DECLARE(role_bindings);
APIMESH_DECLARE(flow_schemas);
APIMESH_DECLARE(priority_levels);
APIMESH_DECLARE(priority_classes);
APIMESH_DECLARE(gated_policy);
}

namespace apimesh::core_api {

std::string_view BootstrapBytes(BootstrapFile file) {
  switch (file) {
    case BootstrapFile::kClusterRoles: return APIMESH_VIEW(cluster_roles);
    case BootstrapFile::kClusterRoleBindings: return APIMESH_VIEW(cluster_role_bindings);
    case BootstrapFile::kRoles: return APIMESH_VIEW(roles);
    case BootstrapFile::kRoleBindings: return APIMESH_VIEW(role_bindings);
    case BootstrapFile::kFlowSchemas: return APIMESH_VIEW(flow_schemas);
    case BootstrapFile::kPriorityLevels: return APIMESH_VIEW(priority_levels);
    case BootstrapFile::kPriorityClasses: return APIMESH_VIEW(priority_classes);
    case BootstrapFile::kGatedPolicy: return APIMESH_VIEW(gated_policy);
  }
  return {};
}

}  // namespace apimesh::core_api
