#include "services/core-api/groups/feature_fields.h"

#include "services/core-api/resources/disabled_fields.h"

namespace apimesh::core_api {
namespace {

constexpr bool kDropsEmptyParent = true;

// The fields that kube-apiserver drops while the gate is off. A type stands for all versions of the group; types that
// only one version has (BasicDevice) are listed beside their successors.
constexpr FeatureField kFields[] = {
    {features::kClusterTrustBundleProjection, "core.VolumeProjection", "clusterTrustBundle"},
    {features::kContainerRestartRules, "core.Container", "restartPolicyRules"},
    {features::kContainerRestartRules, "core.Container", "restartPolicy", false, "containers"},
    {features::kContainerRestartRules, "core.Container", "restartPolicy", false, "initContainers", "Always"},
    {features::kContainerRestartRules, "core.EphemeralContainer", "restartPolicy"},
    {features::kContainerRestartRules, "core.EphemeralContainer", "restartPolicyRules"},
    {features::kContainerStopSignals, "core.Lifecycle", "stopSignal", kDropsEmptyParent},
    {features::kCoordinatedLeaderElection, "coordination.LeaseSpec", "preferredHolder"},
    {features::kCoordinatedLeaderElection, "coordination.LeaseSpec", "strategy"},
    {features::kDRAConsumableCapacity, "resource.AllocatedDeviceStatus", "shareID"},
    {features::kDRAConsumableCapacity, "resource.BasicDevice", "allowMultipleAllocations"},
    {features::kDRAConsumableCapacity, "resource.Device", "allowMultipleAllocations"},
    {features::kDRAConsumableCapacity, "resource.DeviceCapacity", "requestPolicy"},
    {features::kDRAConsumableCapacity, "resource.DeviceConstraint", "distinctAttribute"},
    {features::kDRAConsumableCapacity, "resource.DeviceRequest", "capacity"},
    {features::kDRAConsumableCapacity, "resource.DeviceRequestAllocationResult", "consumedCapacity"},
    {features::kDRAConsumableCapacity, "resource.DeviceRequestAllocationResult", "shareID"},
    {features::kDRAConsumableCapacity, "resource.DeviceSubRequest", "capacity"},
    {features::kDRAConsumableCapacity, "resource.ExactDeviceRequest", "capacity"},
    {features::kDRADeviceBindingConditions, "resource.BasicDevice", "bindingConditions"},
    {features::kDRADeviceBindingConditions, "resource.BasicDevice", "bindingFailureConditions"},
    {features::kDRADeviceBindingConditions, "resource.BasicDevice", "bindsToNode"},
    {features::kDRADeviceBindingConditions, "resource.Device", "bindingConditions"},
    {features::kDRADeviceBindingConditions, "resource.Device", "bindingFailureConditions"},
    {features::kDRADeviceBindingConditions, "resource.Device", "bindsToNode"},
    {features::kDRADeviceBindingConditions, "resource.DeviceRequestAllocationResult", "bindingConditions"},
    {features::kDRADeviceBindingConditions, "resource.DeviceRequestAllocationResult", "bindingFailureConditions"},
    {features::kDRADeviceTaints, "resource.BasicDevice", "taints"},
    {features::kDRADeviceTaints, "resource.Device", "taints"},
    {features::kDRADeviceTaints, "resource.DeviceRequest", "tolerations"},
    {features::kDRADeviceTaints, "resource.DeviceSubRequest", "tolerations"},
    {features::kDRADeviceTaints, "resource.ExactDeviceRequest", "tolerations"},
    {features::kDRAExtendedResource, "core.PodStatus", "extendedResourceClaimStatus"},
    {features::kDRAExtendedResource, "resource.DeviceClassSpec", "extendedResourceName"},
    {features::kDRAListTypeAttributes, "resource.DeviceAttribute", "bools"},
    {features::kDRAListTypeAttributes, "resource.DeviceAttribute", "ints"},
    {features::kDRAListTypeAttributes, "resource.DeviceAttribute", "strings"},
    {features::kDRAListTypeAttributes, "resource.DeviceAttribute", "versions"},
    {features::kDRANodeAllocatableResources, "core.PodStatus", "nodeAllocatableResourceClaimStatuses"},
    {features::kDRANodeAllocatableResources, "resource.BasicDevice", "nodeAllocatableResourceMappings"},
    {features::kDRANodeAllocatableResources, "resource.Device", "nodeAllocatableResourceMappings"},
    {features::kDRAPartitionableDevices, "resource.BasicDevice", "allNodes"},
    {features::kDRAPartitionableDevices, "resource.BasicDevice", "consumesCounters"},
    {features::kDRAPartitionableDevices, "resource.BasicDevice", "nodeName"},
    {features::kDRAPartitionableDevices, "resource.BasicDevice", "nodeSelector"},
    {features::kDRAPartitionableDevices, "resource.Device", "allNodes"},
    {features::kDRAPartitionableDevices, "resource.Device", "consumesCounters"},
    {features::kDRAPartitionableDevices, "resource.Device", "nodeName"},
    {features::kDRAPartitionableDevices, "resource.Device", "nodeSelector"},
    {features::kDRAPartitionableDevices, "resource.ResourceSliceSpec", "perDeviceNodeSelection"},
    {features::kDRAPartitionableDevices, "resource.ResourceSliceSpec", "sharedCounters"},
    {features::kDRAPrioritizedList, "resource.DeviceRequest", "firstAvailable"},
    {features::kDRAResourceClaimDeviceStatus, "resource.ResourceClaimStatus", "devices"},
    {features::kDeploymentReplicaSetTerminatingReplicas, "apps.DeploymentStatus", "terminatingReplicas"},
    {features::kDeploymentReplicaSetTerminatingReplicas, "apps.ReplicaSetStatus", "terminatingReplicas"},
    {features::kEnvFiles, "core.EnvVarSource", "fileKeyRef"},
    {features::kGenericWorkload, "core.PodSpec", "schedulingGroup"},
    {features::kHPAConfigurableTolerance, "autoscaling.HPAScalingRules", "tolerance"},
    {features::kHostnameOverride, "core.PodSpec", "hostnameOverride"},
    {features::kImageVolumeWithDigest, "core.VolumeMountStatus", "volumeStatus"},
    {features::kInPlacePodLevelResourcesVerticalScaling, "core.PodStatus", "allocatedResources"},
    {features::kInPlacePodLevelResourcesVerticalScaling, "core.PodStatus", "resources"},
    {features::kMatchLabelKeysInPodTopologySpread, "core.TopologySpreadConstraint", "matchLabelKeys"},
    {features::kMaxUnavailableStatefulSet, "apps.RollingUpdateStatefulSetStrategy", "maxUnavailable"},
    {features::kNodeDeclaredFeatures, "core.NodeStatus", "declaredFeatures"},
    {features::kPodCertificateRequest, "core.VolumeProjection", "podCertificate"},
    {features::kPodLevelResources, "core.PodSpec", "resources"},
    {features::kResourceHealthStatus, "core.ContainerStatus", "allocatedResourcesStatus"},
    {features::kResourceHealthStatusMessage, "core.ResourceHealth", "message"},
    {features::kDRAWorkloadResourceClaims, "scheduling.PodGroupSpec", "resourceClaims"},
    {features::kDRAWorkloadResourceClaims, "scheduling.PodGroupStatus", "resourceClaimStatuses"},
    {features::kDRAWorkloadResourceClaims, "scheduling.PodGroupTemplate", "resourceClaims"},
    {features::kTopologyAwareWorkloadScheduling, "scheduling.PodGroupSpec", "schedulingConstraints"},
    {features::kTopologyAwareWorkloadScheduling, "scheduling.PodGroupTemplate", "schedulingConstraints"},
    {features::kWorkloadAwarePreemption, "scheduling.PodGroupSpec", "disruptionMode"},
    {features::kWorkloadAwarePreemption, "scheduling.PodGroupSpec", "priority"},
    {features::kWorkloadAwarePreemption, "scheduling.PodGroupSpec", "priorityClassName"},
    {features::kWorkloadAwarePreemption, "scheduling.PodGroupTemplate", "disruptionMode"},
    {features::kWorkloadAwarePreemption, "scheduling.PodGroupTemplate", "priority"},
    {features::kWorkloadAwarePreemption, "scheduling.PodGroupTemplate", "priorityClassName"},
    {features::kVolumeLimitScaling, "storage.CSIDriverSpec", "preventPodSchedulingIfMissing"},
};

}  // namespace

void SetDisabledFields(const features::FeatureGates& gates, std::vector<registry::Resource>& resources) {
  std::vector<FeatureField> disabled;
  for (const FeatureField& field : kFields) {
    if (!gates.Enabled(field.feature)) disabled.push_back(field);
  }
  DisabledFieldFinder finder(std::move(disabled));
  for (registry::Resource& resource : resources) {
    if (!resource.schema) continue;
    DisabledFields fields = finder.Find(*resource.schema);
    if (fields.Empty()) continue;
    const auto shared = std::make_shared<const DisabledFields>(std::move(fields));
    resource.strategy = DroppingFields(std::move(resource.strategy), shared);
    for (registry::Subresource& subresource : resource.subresources) {
      // Subresources with their own kind write other objects.
      if (subresource.strategy && !subresource.schema && !subresource.scale) {
        subresource.strategy = DroppingFields(std::move(subresource.strategy), shared);
      }
    }
  }
}

}  // namespace apimesh::core_api
