#include <limits>

#include <fmt/format.h>

#include "lib/meta/object_meta.h"
#include "services/core-api/features/rule_features.h"
#include "services/core-api/groups/core/pod_spec/validation.h"
#include "services/core-api/validation/ip_rules.h"
#include "services/core-api/validation/quantities.h"
#include "services/core-api/validation/texts.h"

namespace apimesh::core_api {
namespace {

constexpr std::int64_t kMaxInt32 = std::numeric_limits<std::int32_t>::max();

void ValidateHostAliases(const Check& spec) {
  for (const Check& alias : spec.Each("hostAliases")) {
    for (std::string& complaint : CheckIp(alias.Text("ip"))) {
      alias.Add(
          meta::Invalid(alias.Path().Child("ip").ToString(), meta::Quoted(alias.Text("ip")), std::move(complaint)));
    }
    const meta::json::value* names = meta::FindField(alias.Object(), "hostnames");
    if (!names || !names->is_array()) continue;
    std::size_t index = 0;
    for (const meta::json::value& name : names->get_array()) {
      if (name.is_string()) {
        for (std::string& complaint : meta::CheckDnsSubdomain(name.get_string())) {
          spec.Add(meta::Invalid(alias.Path().Child("hostnames").Index(index).ToString(), Shown(&name),
                                 std::move(complaint)));
        }
      }
      ++index;
    }
  }
}

void ValidateGates(const Check& spec) {
  for (const Check& gate : spec.Each("readinessGates")) {
    const std::string_view type = gate.Text("conditionType");
    for (std::string& complaint : meta::CheckQualifiedName(type)) gate.Invalid("conditionType", std::move(complaint));
  }
  std::set<std::string_view> seen;
  for (const Check& gate : spec.Each("schedulingGates")) {
    for (std::string& complaint : meta::CheckQualifiedName(gate.Text("name")))
      gate.Add(meta::Invalid(gate.Path().ToString(), meta::Quoted(gate.Text("name")), std::move(complaint)));
    if (!seen.insert(gate.Text("name")).second) {
      gate.Add(meta::Duplicate(gate.Path().ToString(), meta::Quoted(gate.Text("name"))));
    }
  }
}

/// Returns the names of the claims.
std::set<std::string, std::less<>> ValidatePodClaims(const Check& spec) {
  std::set<std::string, std::less<>> names;
  for (const Check& claim : spec.Each("resourceClaims")) {
    const std::string_view name = claim.Text("name");
    if (!claim.Require("name")) {
    } else if (names.contains(name)) {
      claim.Add(meta::Duplicate(claim.Path().Child("name").ToString(), meta::Quoted(name)));
    } else {
      claim.Names("name", meta::CheckDnsLabel);
      names.emplace(name);
    }
    const bool by_name = claim.Has("resourceClaimName"), by_template = claim.Has("resourceClaimTemplateName");
    if (by_name == by_template) {
      const meta::json::value shown(claim.Object());
      claim.Add(meta::Invalid(claim.Path().ToString(), Shown(&shown),
                              by_name
                                  ? "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
                                  : "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"));
    }
    for (const char* field : {"resourceClaimName", "resourceClaimTemplateName"}) {
      if (claim.Has(field)) CheckText(claim, claim.Path().Child(field), claim.Text(field), &meta::CheckDnsSubdomain);
    }
  }
  return names;
}

void ValidateHostnameOverride(const Check& spec) {
  constexpr std::size_t kMaxLength = 64;
  if (!spec.Has("hostnameOverride")) return;
  if (spec.IsTrue("setHostnameAsFQDN"))
    spec.Forbid("hostnameOverride", "may not be specified when setHostnameAsFQDN is true");
  if (spec.IsTrue("hostNetwork")) spec.Forbid("hostnameOverride", "may not be specified when hostNetwork is true");
  if (spec.Text("hostnameOverride").size() > kMaxLength)
    spec.Add(meta::TooLong(spec.Path().Child("hostnameOverride").ToString(), kMaxLength));
  for (std::string& complaint : meta::CheckDnsSubdomain(spec.Text("hostnameOverride")))
    spec.Invalid("hostnameOverride", std::move(complaint));
}

/// The ports of a pod in the network of its node are ports of the node. In a template, hostPort may be missing, because
/// it gets its default in the pods.
void ValidateHostNetworkPorts(const Check& spec, bool is_template) {
  if (!spec.IsTrue("hostNetwork")) return;
  for (const Check& container : spec.Each("containers")) {
    for (const Check& port : container.Each("ports")) {
      const std::int64_t host_port = port.Number("hostPort").value_or(0);
      if (host_port == port.Number("containerPort").value_or(0) || (is_template && host_port == 0)) continue;
      port.Add(meta::Invalid(port.Path().Child("hostPort").ToString(), std::to_string(host_port),
                             "must match `containerPort` when `hostNetwork` is true"));
    }
  }
}

void ValidateSchedulingGroup(const Check& spec) {
  const std::optional<Check> group = spec.Child("schedulingGroup");
  if (!group) return;
  if (!group->Has("podGroupName")) {
    group->Add(
        meta::Invalid(group->Path().Child("podGroupName").ToString(), "null", "must specify one of: `podGroupName`"));
    return;
  }
  CheckText(*group, group->Path().Child("podGroupName"), group->Text("podGroupName"), &meta::CheckDnsSubdomain);
}

}  // namespace

meta::FieldErrors ValidatePodSpec(const meta::json::object& object, const meta::Path& path, std::string_view pod_name) {
  meta::FieldErrors errors;
  const Check spec(object, path, errors);
  if (!spec.Has("terminationGracePeriodSeconds"))
    spec.Add(meta::Required(path.Child("terminationGracePeriodSeconds").ToString(), ""));

  ContainerContext context;
  context.volumes = ValidateVolumes(spec, pod_name);
  context.claims = ValidatePodClaims(spec);
  context.host_users = !spec.Has("hostUsers") || spec.IsTrue("hostUsers");
  context.restart_policy = spec.Text("restartPolicy");
  context.grace_period = spec.Number("terminationGracePeriodSeconds");
  ValidateContainers(spec, context);
  if (ActiveRuleFeatures().pod_level_resources) ValidatePodResources(spec, context.claims);
  ValidateHostNetworkPorts(spec, pod_name.empty());

  spec.RequireOneOf("restartPolicy", {"Always", "OnFailure", "Never"});
  spec.RequireOneOf("dnsPolicy", {"ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"});
  for (meta::FieldError& error :
       meta::ValidateLabels(meta::FindField(object, "nodeSelector"), path.Child("nodeSelector")))
    spec.Add(std::move(error));
  ValidatePodSecurityContext(spec);
  if (spec.IsTrue("hostPID") && spec.IsTrue("shareProcessNamespace"))
    spec.Add(meta::Invalid(spec.Path().Child("securityContext").Child("shareProcessNamespace").ToString(), "true",
                           "ShareProcessNamespace and HostPID cannot both be enabled"));
  ValidateAffinity(spec);
  ValidateDnsConfig(spec);
  ValidateGates(spec);
  ValidateTopologySpread(spec);
  ValidateHostProcess(spec);
  ValidateUserNamespace(spec);
  ValidateHostnameOverride(spec);
  spec.Names("serviceAccountName", meta::CheckDnsSubdomain);
  spec.Names("nodeName", meta::CheckDnsSubdomain);
  if (const auto deadline = spec.Number("activeDeadlineSeconds");
      deadline && (*deadline < 1 || *deadline > kMaxInt32)) {
    spec.Invalid("activeDeadlineSeconds", fmt::format("must be between 1 and {}, inclusive", kMaxInt32));
  }
  spec.Names("hostname", meta::CheckDnsLabel);
  spec.Names("subdomain", meta::CheckDnsLabel);
  ValidateTolerations(spec);
  ValidateHostAliases(spec);
  spec.Names("priorityClassName", meta::CheckDnsSubdomain);
  if (spec.Has("runtimeClassName"))
    CheckText(spec, path.Child("runtimeClassName"), spec.Text("runtimeClassName"), &meta::CheckDnsSubdomain);
  if (spec.Has("preemptionPolicy")) spec.RequireOneOf("preemptionPolicy", {"PreemptLowerPriority", "Never"});
  if (const std::optional<Check> overhead = spec.Child("overhead")) {
    // kube-apiserver checks the overhead as if it were the limits of a container.
    ValidateContainerQuantities(Check(overhead->Object(), overhead->Path().Child("limits"), errors));
  }
  ValidateOs(spec);
  ValidateSchedulingGroup(spec);
  ValidateEnvFileVolumes(spec);
  return errors;
}

}  // namespace apimesh::core_api
