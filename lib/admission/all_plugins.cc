#include "lib/admission/all_plugins.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "lib/admission/plugins/always/always.h"
#include "lib/admission/plugins/certificates/certificates.h"
#include "lib/admission/plugins/namespace_lifecycle/namespace_lifecycle.h"
#include "lib/admission/plugins/node_restriction/node_restriction.h"

namespace apimesh::admission {
namespace {

enum class OnByDefault { kNo, kYes };
struct PluginEntry {
  std::string_view name;
  std::unique_ptr<Plugin> (*make)(const PluginInputs& inputs);  // nullptr: the name is known, but there is no implementation
  OnByDefault on;
};

// Run order, top to bottom; webhooks and quota stay last.
constexpr PluginEntry kPlugins[] = {
    {"AlwaysAdmit", &MakeAlwaysAdmit, OnByDefault::kNo},
    {"NamespaceAutoProvision", nullptr, OnByDefault::kNo},
    {"NamespaceLifecycle", &MakeNamespaceLifecycle, OnByDefault::kYes},  // first: refuse writes into a dying namespace
    {"NamespaceExists", nullptr, OnByDefault::kNo},
    {"LimitPodHardAntiAffinityTopology", nullptr, OnByDefault::kNo},
    {"LimitRanger", nullptr, OnByDefault::kYes},
    {"ServiceAccount", nullptr, OnByDefault::kYes},
    {"NodeRestriction", &MakeNodeRestriction, OnByDefault::kNo},
    {"TaintNodesByCondition", nullptr, OnByDefault::kYes},
    {"AlwaysPullImages", nullptr, OnByDefault::kNo},
    {"ImagePolicyWebhook", nullptr, OnByDefault::kNo},
    {"PodSecurity", nullptr, OnByDefault::kYes},
    {"PodNodeSelector", nullptr, OnByDefault::kNo},
    {"Priority", nullptr, OnByDefault::kYes},
    {"DefaultTolerationSeconds", nullptr, OnByDefault::kYes},
    {"PodTolerationRestriction", nullptr, OnByDefault::kNo},
    {"EventRateLimit", nullptr, OnByDefault::kNo},
    {"ExtendedResourceToleration", nullptr, OnByDefault::kNo},
    {"DefaultStorageClass", nullptr, OnByDefault::kYes},
    {"StorageObjectInUseProtection", nullptr, OnByDefault::kYes},
    {"PodGroupProtection", nullptr, OnByDefault::kYes},
    {"OwnerReferencesPermissionEnforcement", nullptr, OnByDefault::kNo},
    {"PersistentVolumeClaimResize", nullptr, OnByDefault::kYes},
    {"RuntimeClass", nullptr, OnByDefault::kYes},
    {"CertificateApproval", &MakeCertificateApproval, OnByDefault::kYes},
    {"CertificateSigning", &MakeCertificateSigning, OnByDefault::kYes},
    {"CertificateSubjectRestriction", &MakeCertificateSubjectRestriction, OnByDefault::kYes},
    {"ClusterTrustBundleAttest", nullptr, OnByDefault::kYes},
    {"DefaultIngressClass", nullptr, OnByDefault::kYes},
    {"DenyServiceExternalIPs", nullptr, OnByDefault::kNo},
    {"PodTopologyLabels", nullptr, OnByDefault::kYes},
    {"PodGroupWorkloadExists", nullptr, OnByDefault::kYes},
    {"NodeDeclaredFeatureValidator", nullptr, OnByDefault::kYes},
    {"JobValidation", nullptr, OnByDefault::kYes},
    {"PodResizeValidator", nullptr, OnByDefault::kYes},
    {"MutatingAdmissionPolicy", nullptr, OnByDefault::kYes},
    {"MutatingAdmissionWebhook", nullptr, OnByDefault::kYes},
    {"ValidatingAdmissionPolicy", nullptr, OnByDefault::kYes},
    {"ValidatingAdmissionWebhook", nullptr, OnByDefault::kYes},
    {"ResourceQuota", nullptr, OnByDefault::kYes},  // after all that may refuse: count only what the others accepted
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

void CheckImplemented(const std::vector<std::string>& names, std::string_view flag) {
  for (const PluginEntry& entry : kPlugins) {
    if (entry.make || !Contains(names, entry.name)) continue;
    throw std::invalid_argument(fmt::format(
        "{} plugin \"{}\" is not implemented by this server: it would let through what it is meant to refuse or change. Remove "
        "\"{}\" from --{} to start without it", flag, entry.name, entry.name, flag));
  }
}

bool IsOn(const PluginEntry& entry, const PluginChoice& choice) {
  if (!choice.only.empty()) return Contains(choice.only, entry.name);
  return (entry.on == OnByDefault::kYes || Contains(choice.enable, entry.name)) && !Contains(choice.disable, entry.name);
}

}  // namespace

std::vector<std::string> AllPluginNames() {
  std::vector<std::string> names;
  for (const PluginEntry& entry : kPlugins) names.emplace_back(entry.name);
  return names;
}

ChainPtr MakeChain(const PluginInputs& inputs, const PluginChoice& choice) {
  CheckKnown(choice.only, "admission-control");
  CheckKnown(choice.enable, "enable-admission-plugins");
  CheckKnown(choice.disable, "disable-admission-plugins");
  CheckImplemented(choice.only, "admission-control");
  CheckImplemented(choice.enable, "enable-admission-plugins");
  std::vector<std::unique_ptr<Plugin>> plugins;
  for (const PluginEntry& entry : kPlugins) {
    if (IsOn(entry, choice) && entry.make) plugins.push_back(entry.make(inputs));
  }
  return std::make_shared<const Chain>(std::move(plugins));
}

}  // namespace apimesh::admission
