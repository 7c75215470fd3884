#include <fmt/format.h>

#include <limits>

#include "lib/meta/object_meta.h"
#include "services/core-api/groups/core/pod_spec/validation.h"

namespace apimesh::core_api {
namespace {

constexpr std::int64_t kMaxInt32 = std::numeric_limits<std::int32_t>::max();

void ValidateHostAliases(const Check& spec) {
  for (const Check& alias : spec.Each("hostAliases")) {
    alias.Require("ip");
    const meta::json::value* names = meta::FindField(alias.Object(), "hostnames");
    if (!names || !names->is_array()) continue;
    std::size_t index = 0;
    for (const meta::json::value& name : names->get_array()) {
      if (name.is_string()) {
        for (std::string& complaint : meta::CheckDnsSubdomain(name.get_string())) {
          spec.Add(meta::Invalid(alias.Path().Child("hostnames").Index(index).ToString(), Shown(&name), std::move(complaint)));
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
    if (gate.Text("name").empty()) {
      gate.Add(meta::Required(gate.Path().ToString(), "must not be empty"));
      continue;
    }
    gate.Names("name", meta::CheckQualifiedName);
    if (!seen.insert(gate.Text("name")).second) {
      gate.Add(meta::Duplicate(gate.Path().ToString(), meta::Quoted(gate.Text("name"))));
    }
  }
}

void ValidateDnsConfig(const Check& spec) {
  const std::optional<Check> config = spec.Child("dnsConfig");
  const meta::json::value* servers = config ? meta::FindField(config->Object(), "nameservers") : nullptr;
  const std::size_t count = servers && servers->is_array() ? servers->get_array().size() : 0;
  if (spec.Text("dnsPolicy") == "None" && count == 0) {
    spec.Add(meta::Required(spec.Path().Child("dnsConfig").ToString() + (config ? ".nameservers" : ""),
                            config ? "must provide at least one DNS nameserver when `dnsPolicy` is None" : "must provide `dnsConfig` when `dnsPolicy` is None"));
  }
  if (config && count > 3) {
    config->Add(meta::Invalid(config->Path().Child("nameservers").ToString(), Shown(servers), "must not have more than 3 nameservers"));
  }
}

}  // namespace

meta::FieldErrors ValidatePodSpec(const meta::json::object& object, const meta::Path& path, std::string_view pod_name) {
  meta::FieldErrors errors;
  const Check spec(object, path, errors);
  if (!spec.Has("terminationGracePeriodSeconds")) spec.Add(meta::Required(path.Child("terminationGracePeriodSeconds").ToString(), ""));

  ContainerContext context;
  context.volumes = ValidateVolumes(spec, pod_name);
  for (const Check& claim : spec.Each("resourceClaims")) {
    claim.RequireName("name", meta::CheckDnsLabel);
    context.claims.insert(std::string(claim.Text("name")));
  }
  context.restart_policy = spec.Text("restartPolicy");
  context.grace_period = spec.Number("terminationGracePeriodSeconds");
  ValidateContainers(spec, context);
  if (spec.Has("resources")) ValidateResources(spec, context.claims);

  spec.RequireOneOf("restartPolicy", {"Always", "OnFailure", "Never"});
  spec.RequireOneOf("dnsPolicy", {"ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"});
  for (meta::FieldError& error : meta::ValidateLabels(meta::FindField(object, "nodeSelector"), path.Child("nodeSelector"))) spec.Add(std::move(error));
  ValidateSecurity(spec);
  ValidateAffinity(spec);
  ValidateDnsConfig(spec);
  ValidateGates(spec);
  ValidateTopologySpread(spec);
  spec.Names("serviceAccountName", meta::CheckDnsSubdomain);
  spec.Names("nodeName", meta::CheckDnsSubdomain);
  if (const auto deadline = spec.Number("activeDeadlineSeconds"); deadline && (*deadline < 1 || *deadline > kMaxInt32)) {
    spec.Invalid("activeDeadlineSeconds", fmt::format("must be between 1 and {}, inclusive", kMaxInt32));
  }
  spec.Names("hostname", meta::CheckDnsLabel);
  spec.Names("subdomain", meta::CheckDnsLabel);
  ValidateTolerations(spec);
  ValidateHostAliases(spec);
  spec.Names("priorityClassName", meta::CheckDnsSubdomain);
  spec.Names("runtimeClassName", meta::CheckDnsSubdomain);
  spec.OneOf("preemptionPolicy", {"PreemptLowerPriority", "Never"});
  if (const std::optional<Check> os = spec.Child("os")) os->RequireOneOf("name", {"linux", "windows"});
  return errors;
}

}  // namespace apimesh::core_api
