#include "services/core-api/groups/core/node/deprecated_labels.h"

#include <utility>

namespace apimesh::core_api {

std::string_view DeprecatedNodeLabel(std::string_view key) {
  static constexpr std::pair<std::string_view, std::string_view> kLabels[] = {
      {"beta.kubernetes.io/arch", R"(deprecated since v1.14; use "kubernetes.io/arch" instead)"},
      {"beta.kubernetes.io/os", R"(deprecated since v1.14; use "kubernetes.io/os" instead)"},
      {"failure-domain.beta.kubernetes.io/region",
       R"(deprecated since v1.17; use "topology.kubernetes.io/region" instead)"},
      {"failure-domain.beta.kubernetes.io/zone",
       R"(deprecated since v1.17; use "topology.kubernetes.io/zone" instead)"},
      {"beta.kubernetes.io/instance-type", R"(deprecated since v1.17; use "node.kubernetes.io/instance-type" instead)"},
      {"app.kubernetes.io/created-by", "deprecated since v1.9"},
      {"scheduler.alpha.kubernetes.io/preferAvoidPods", "deprecated since v1.22; use Taints and Tolerations instead"},
      {"node-role.kubernetes.io/master", R"(use "node-role.kubernetes.io/control-plane" instead)"}};
  for (const auto& [label, why] : kLabels) {
    if (label == key) return why;
  }
  return "";
}

}  // namespace apimesh::core_api
