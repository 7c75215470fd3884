#include "services/core-api/features/rule_features.h"

namespace apimesh::core_api {
namespace {

constexpr RuleFeature kFeatures[] = {
    {&RuleFeatures::clearing_nominated_node_name_after_binding, features::kClearingNominatedNodeNameAfterBinding},
    {&RuleFeatures::container_restart_rules, features::kContainerRestartRules},
    {&RuleFeatures::cross_namespace_volume_data_source, features::kCrossNamespaceVolumeDataSource},
    {&RuleFeatures::hpa_scale_to_zero, features::kHPAScaleToZero},
    {&RuleFeatures::in_place_pod_level_resources_vertical_scaling, features::kInPlacePodLevelResourcesVerticalScaling},
    {&RuleFeatures::in_place_pod_vertical_scaling_init_containers, features::kInPlacePodVerticalScalingInitContainers},
    {&RuleFeatures::match_label_keys_in_pod_topology_spread, features::kMatchLabelKeysInPodTopologySpread},
    {&RuleFeatures::match_label_keys_in_pod_topology_spread_selector_merge,
     features::kMatchLabelKeysInPodTopologySpreadSelectorMerge},
    {&RuleFeatures::mutable_pod_resources_for_suspended_jobs, features::kMutablePodResourcesForSuspendedJobs},
    {&RuleFeatures::mutable_pv_node_affinity, features::kMutablePVNodeAffinity},
    {&RuleFeatures::mutable_scheduling_directives_for_suspended_jobs,
     features::kMutableSchedulingDirectivesForSuspendedJobs},
    {&RuleFeatures::pod_deletion_cost, features::kPodDeletionCost},
    {&RuleFeatures::pod_level_resources, features::kPodLevelResources},
    {&RuleFeatures::pod_topology_labels_admission, features::kPodTopologyLabelsAdmission},
    {&RuleFeatures::relaxed_service_name_validation, features::kRelaxedServiceNameValidation},
    {&RuleFeatures::restart_all_containers_on_container_exits, features::kRestartAllContainersOnContainerExits},
    {&RuleFeatures::se_linux_mount, features::kSELinuxMount},
    {&RuleFeatures::service_cidr_status_field_wiping, features::kServiceCIDRStatusFieldWiping},
    {&RuleFeatures::strict_ip_cidr_validation, features::kStrictIPCIDRValidation},
    {&RuleFeatures::taint_toleration_comparison_operators, features::kTaintTolerationComparisonOperators},
    {&RuleFeatures::token_request_service_account_uid_validation, features::kTokenRequestServiceAccountUIDValidation},
    {&RuleFeatures::user_namespaces_host_network_support, features::kUserNamespacesHostNetworkSupport},
};

}  // namespace

std::span<const RuleFeature> AllRuleFeatures() { return kFeatures; }

RuleFeatures RuleFeaturesOf(const features::FeatureGates& gates) {
  RuleFeatures result;
  for (const RuleFeature& feature : kFeatures) result.*feature.value = gates.Enabled(feature.gate);
  return result;
}

}  // namespace apimesh::core_api
