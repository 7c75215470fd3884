#include "lib/admission/all_plugins.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "lib/admission/configuration.h"
#include "lib/admission/plugins/always/always.h"
#include "lib/admission/plugins/always_pull_images/always_pull_images.h"
#include "lib/admission/plugins/certificates/certificates.h"
#include "lib/admission/plugins/default_ingress_class/default_ingress_class.h"
#include "lib/admission/plugins/default_storage_class/default_storage_class.h"
#include "lib/admission/plugins/default_toleration_seconds/default_toleration_seconds.h"
#include "lib/admission/plugins/deny_service_external_ips/deny_service_external_ips.h"
#include "lib/admission/plugins/event_rate_limit/event_rate_limit.h"
#include "lib/admission/plugins/extended_resource_toleration/extended_resource_toleration.h"
#include "lib/admission/plugins/image_policy_webhook/image_policy_webhook.h"
#include "lib/admission/plugins/job_validation/job_validation.h"
#include "lib/admission/plugins/limit_pod_hard_anti_affinity_topology/limit_pod_hard_anti_affinity_topology.h"
#include "lib/admission/plugins/limit_ranger/limit_ranger.h"
#include "lib/admission/plugins/mutating_admission_policy/mutating_admission_policy.h"
#include "lib/admission/plugins/mutating_admission_webhook/mutating_admission_webhook.h"
#include "lib/admission/plugins/namespace_auto_provision/namespace_auto_provision.h"
#include "lib/admission/plugins/namespace_exists/namespace_exists.h"
#include "lib/admission/plugins/namespace_lifecycle/namespace_lifecycle.h"
#include "lib/admission/plugins/node_declared_feature_validator/node_declared_feature_validator.h"
#include "lib/admission/plugins/node_restriction/node_restriction.h"
#include "lib/admission/plugins/owner_references_permission_enforcement/owner_references_permission_enforcement.h"
#include "lib/admission/plugins/persistent_volume_claim_resize/persistent_volume_claim_resize.h"
#include "lib/admission/plugins/pod_group_protection/pod_group_protection.h"
#include "lib/admission/plugins/pod_group_workload_exists/pod_group_workload_exists.h"
#include "lib/admission/plugins/pod_node_selector/pod_node_selector.h"
#include "lib/admission/plugins/pod_resize_validator/pod_resize_validator.h"
#include "lib/admission/plugins/pod_security/pod_security.h"
#include "lib/admission/plugins/pod_toleration_restriction/pod_toleration_restriction.h"
#include "lib/admission/plugins/pod_topology_labels/pod_topology_labels.h"
#include "lib/admission/plugins/priority/priority.h"
#include "lib/admission/plugins/resource_quota/resource_quota.h"
#include "lib/admission/plugins/runtime_class/runtime_class.h"
#include "lib/admission/plugins/service_account/service_account.h"
#include "lib/admission/plugins/storage_object_in_use_protection/storage_object_in_use_protection.h"
#include "lib/admission/plugins/taint_nodes_by_condition/taint_nodes_by_condition.h"
#include "lib/admission/plugins/validating_admission_policy/validating_admission_policy.h"
#include "lib/admission/plugins/validating_admission_webhook/validating_admission_webhook.h"
#include "lib/codec/config_section.h"

namespace apimesh::admission {
namespace {

enum class OnByDefault { kNo, kYes };
enum class Configured { kNot, kReadsSection };  // whether the plugin reads its section of the configuration file
struct PluginEntry {
  std::string_view name;
  std::unique_ptr<Plugin> (*make)(const PluginInputs& inputs);
  OnByDefault on;
  Configured configured = Configured::kNot;
};

// The plugins in run order. Webhooks and ResourceQuota must stay at the end.
constexpr PluginEntry kPlugins[] = {
    {"AlwaysAdmit", &MakeAlwaysAdmit, OnByDefault::kNo},
    {"NamespaceAutoProvision", &MakeNamespaceAutoProvision, OnByDefault::kNo},
    {"NamespaceLifecycle", &MakeNamespaceLifecycle, OnByDefault::kYes},  // before plugins that depend on the namespace
    {"NamespaceExists", &MakeNamespaceExists, OnByDefault::kNo},
    {"LimitPodHardAntiAffinityTopology", &MakeLimitPodHardAntiAffinityTopology, OnByDefault::kNo},
    {"LimitRanger", &MakeLimitRanger, OnByDefault::kYes},
    {"ServiceAccount", &MakeServiceAccount, OnByDefault::kYes},
    {"NodeRestriction", &MakeNodeRestriction, OnByDefault::kNo},
    {"TaintNodesByCondition", &MakeTaintNodesByCondition, OnByDefault::kYes},
    {"AlwaysPullImages", &MakeAlwaysPullImages, OnByDefault::kNo},
    {"ImagePolicyWebhook", &MakeImagePolicyWebhook, OnByDefault::kNo, Configured::kReadsSection},
    {"PodSecurity", &MakePodSecurity, OnByDefault::kYes, Configured::kReadsSection},
    {"PodNodeSelector", &MakePodNodeSelector, OnByDefault::kNo, Configured::kReadsSection},
    {"Priority", &MakePriority, OnByDefault::kYes},
    {"DefaultTolerationSeconds", &MakeDefaultTolerationSeconds, OnByDefault::kYes},
    {"PodTolerationRestriction", &MakePodTolerationRestriction, OnByDefault::kNo, Configured::kReadsSection},
    {"EventRateLimit", &MakeEventRateLimit, OnByDefault::kNo, Configured::kReadsSection},
    {"ExtendedResourceToleration", &MakeExtendedResourceToleration, OnByDefault::kNo},
    {"DefaultStorageClass", &MakeDefaultStorageClass, OnByDefault::kYes},
    {"StorageObjectInUseProtection", &MakeStorageObjectInUseProtection, OnByDefault::kYes},
    {"PodGroupProtection", &MakePodGroupProtection, OnByDefault::kYes},
    {"OwnerReferencesPermissionEnforcement", &MakeOwnerReferencesPermissionEnforcement, OnByDefault::kNo},
    {"PersistentVolumeClaimResize", &MakePersistentVolumeClaimResize, OnByDefault::kYes},
    {"RuntimeClass", &MakeRuntimeClass, OnByDefault::kYes},
    {"CertificateApproval", &MakeCertificateApproval, OnByDefault::kYes},
    {"CertificateSigning", &MakeCertificateSigning, OnByDefault::kYes},
    {"ClusterTrustBundleAttest", &MakeClusterTrustBundleAttest, OnByDefault::kYes},
    {"CertificateSubjectRestriction", &MakeCertificateSubjectRestriction, OnByDefault::kYes},
    {"DefaultIngressClass", &MakeDefaultIngressClass, OnByDefault::kYes},
    {"DenyServiceExternalIPs", &MakeDenyServiceExternalIPs, OnByDefault::kNo},
    {"PodTopologyLabels", &MakePodTopologyLabels, OnByDefault::kYes},
    {"PodGroupWorkloadExists", &MakePodGroupWorkloadExists, OnByDefault::kYes},
    {"NodeDeclaredFeatureValidator", &MakeNodeDeclaredFeatureValidator, OnByDefault::kYes},
    {"JobValidation", &MakeJobValidation, OnByDefault::kYes},
    {"PodResizeValidator", &MakePodResizeValidator, OnByDefault::kYes},
    {"MutatingAdmissionPolicy", &MakeMutatingAdmissionPolicy, OnByDefault::kYes, Configured::kReadsSection},
    {"MutatingAdmissionWebhook", &MakeMutatingAdmissionWebhook, OnByDefault::kYes, Configured::kReadsSection},
    {"ValidatingAdmissionPolicy", &MakeValidatingAdmissionPolicy, OnByDefault::kYes, Configured::kReadsSection},
    {"ValidatingAdmissionWebhook", &MakeValidatingAdmissionWebhook, OnByDefault::kYes, Configured::kReadsSection},
    {"ResourceQuota", &MakeResourceQuota, OnByDefault::kYes,
     Configured::kReadsSection},  // after all plugins that may reject: counts only accepted writes
    {"AlwaysDeny", &MakeAlwaysDeny, OnByDefault::kNo},
};

bool Contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void CheckKnown(const std::vector<std::string>& names, std::string_view flag) {
  const std::vector<std::string> all = AllPluginNames();
  for (const std::string& name : names) {
    if (!Contains(all, name)) throw std::invalid_argument(fmt::format("{} plugin \"{}\" is unknown", flag, name));
  }
}

bool IsOn(const PluginEntry& entry, const PluginChoice& choice) {
  if (!choice.only.empty()) return Contains(choice.only, entry.name);
  return (entry.on == OnByDefault::kYes || Contains(choice.enable, entry.name)) &&
         !Contains(choice.disable, entry.name);
}

/// Rejects sections that no plugin reads, because such settings have no effect. Sections of unknown plugins are
/// ignored, as in kube-apiserver.
void CheckSections(const Configuration& configuration) {
  for (const PluginEntry& entry : kPlugins) {
    if (!Contains(configuration.Plugins(), entry.name) || entry.configured == Configured::kReadsSection) continue;
    throw std::invalid_argument(
        fmt::format("admission-control-config-file configures the plugin \"{}\", whose configuration this server does "
                    "not read: it would "
                    "have no effect. Remove its section from the file",
                    entry.name));
  }
}

std::unique_ptr<Plugin> Make(const PluginEntry& entry, PluginInputs inputs, const Configuration& configuration) {
  if (entry.configured == Configured::kReadsSection) inputs.section = configuration.SectionOf(entry.name);
  try {
    return entry.make(inputs);
  } catch (const codec::InvalidSection& error) {
    throw std::invalid_argument(fmt::format(
        "failed to apply admission: failed to initialize admission plugin \"{}\": {}", entry.name, error.what()));
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(
        fmt::format("failed to apply admission: couldn't init admission plugin \"{}\": {}", entry.name, error.what()));
  }
}

}  // namespace

std::vector<std::string> AllPluginNames() {
  std::vector<std::string> names;
  for (const PluginEntry& entry : kPlugins) names.emplace_back(entry.name);
  return names;
}

void PluginChoice::Bind(flags::Binder& flags) {
  flags.Bind("enable-admission-plugins", enable);
  flags.Bind("disable-admission-plugins", disable);
  flags.Bind("admission-control", only);
  flags.Bind("admission-control-config-file", config_file);
}

ChainPtr MakeChain(const PluginInputs& inputs, const PluginChoice& choice) {
  CheckKnown(choice.only, "admission-control");
  CheckKnown(choice.enable, "enable-admission-plugins");
  CheckKnown(choice.disable, "disable-admission-plugins");
  const Configuration configuration =
      choice.config_file.empty() ? Configuration() : Configuration::FromFile(choice.config_file);
  CheckSections(configuration);
  std::vector<Chain::NamedPlugin> plugins;
  for (const PluginEntry& entry : kPlugins) {
    if (IsOn(entry, choice)) plugins.push_back({std::string(entry.name), Make(entry, inputs, configuration)});
  }
  if (inputs.metrics) return std::make_shared<const Chain>(std::move(plugins), *inputs.metrics, *inputs.clock);
  std::vector<std::unique_ptr<Plugin>> unnamed;
  for (Chain::NamedPlugin& plugin : plugins) unnamed.push_back(std::move(plugin.plugin));
  return std::make_shared<const Chain>(std::move(unnamed));
}

}  // namespace apimesh::admission
