#pragma once

#include <span>
#include <string_view>

#include "lib/features/feature_gates.h"

namespace apimesh::core_api {

/// Feature gates on which rules and defaults of built-in kinds depend. They are pure functions that many kinds share,
/// so that these values are of the process, as in kube-apiserver. The values here are the defaults of the gates.
struct RuleFeatures {
  bool clearing_nominated_node_name_after_binding = true;
  bool container_restart_rules = true;
  bool cross_namespace_volume_data_source = false;
  bool hpa_scale_to_zero = false;
  bool in_place_pod_level_resources_vertical_scaling = true;
  bool in_place_pod_vertical_scaling_init_containers = true;
  bool match_label_keys_in_pod_topology_spread = true;
  bool match_label_keys_in_pod_topology_spread_selector_merge = true;
  bool mutable_pod_resources_for_suspended_jobs = true;
  bool mutable_pv_node_affinity = false;
  bool mutable_scheduling_directives_for_suspended_jobs = true;
  bool pod_deletion_cost = true;
  bool pod_level_resources = true;
  bool pod_topology_labels_admission = true;
  bool relaxed_service_name_validation = true;
  bool restart_all_containers_on_container_exits = true;
  bool se_linux_mount = false;
  bool service_cidr_status_field_wiping = true;
  bool strict_ip_cidr_validation = true;
  bool taint_toleration_comparison_operators = false;
  bool token_request_service_account_uid_validation = true;
  bool user_namespaces_host_network_support = false;
};

struct RuleFeature {
  bool RuleFeatures::* value;
  std::string_view gate;
};
std::span<const RuleFeature> AllRuleFeatures();

RuleFeatures RuleFeaturesOf(const features::FeatureGates& gates);

/// Returns the values of this process. The main thread sets them once, before requests are served.
inline RuleFeatures& ActiveRuleFeatures() {
  static RuleFeatures features;
  return features;
}

}  // namespace apimesh::core_api
