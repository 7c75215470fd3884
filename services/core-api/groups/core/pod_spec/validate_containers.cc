#include <fmt/format.h>

#include "services/core-api/features/rule_features.h"
#include "services/core-api/groups/core/pod_spec/validation.h"
#include "services/core-api/validation/enums.h"
#include "services/core-api/validation/texts.h"

namespace apimesh::core_api {
namespace {

/// The texts refer to the document.
using Names = TextIndex;
using HostPorts = std::set<std::string>;

void ValidatePorts(const Check& container) {
  Names names;
  for (const Check& port : container.Each("ports")) {
    if (const std::string_view name = port.Text("name"); !name.empty()) {
      const meta::Complaints complaints = meta::CheckPortName(name);
      for (const std::string& complaint : complaints) port.Invalid("name", complaint);
      if (complaints.empty() && !names.Add(name).is_new) {
        port.Add(meta::Duplicate(port.Path().Child("name").ToString(), meta::Quoted(name)));
      }
    }
    if (const std::int64_t number = port.Number("containerPort").value_or(0); number == 0) {
      port.Add(meta::Required(port.Path().Child("containerPort").ToString(), ""));
    } else {
      for (std::string& complaint : meta::CheckPortNumber(number)) port.Invalid("containerPort", std::move(complaint));
    }
    if (const std::int64_t number = port.Number("hostPort").value_or(0); number != 0) {
      for (std::string& complaint : meta::CheckPortNumber(number)) port.Invalid("hostPort", std::move(complaint));
    }
    port.RequireOneOf("protocol", {"SCTP", "TCP", "UDP"});
  }
}

/// Checks that two containers that run at the same time do not use the same port of the node. `path` is the path of the
/// container in the errors.
void ValidateHostPorts(const Check& container, const meta::Path& path, HostPorts& taken) {
  std::size_t index = 0;
  for (const Check& port : container.Each("ports")) {
    const meta::Path place = path.Child("ports").Index(index++);
    const std::int64_t number = port.Number("hostPort").value_or(0);
    if (number == 0) continue;
    const std::string key = fmt::format("{}/{}/{}", port.Text("protocol"), port.Text("hostIP"), number);
    if (!taken.insert(key).second) port.Add(meta::Duplicate(place.Child("hostPort").ToString(), meta::Quoted(key)));
  }
}

/// kube-apiserver reports most of these errors at the list.
void ValidateResizePolicies(const Check& container, std::string_view restart_policy) {
  const std::string list = container.Path().Child("resizePolicy").ToString();
  TextIndex resources;
  for (const Check& policy : container.Each("resizePolicy")) {
    const std::string_view resource = policy.Text("resourceName"), restart = policy.Text("restartPolicy");
    if (!resources.Add(resource).is_new) policy.Add(meta::Duplicate(policy.Path().ToString(), meta::Quoted(resource)));
    if (resource.empty()) {
      policy.Add(meta::Required(list, ""));
    } else if (resource != "cpu" && resource != "memory") {
      policy.Add(meta::NotSupported(list, meta::Quoted(resource), {"cpu", "memory"}));
    }
    if (restart.empty()) {
      policy.Add(meta::Required(list, ""));
    } else if (restart != "NotRequired" && restart != "RestartContainer") {
      policy.Add(meta::NotSupported(list, meta::Quoted(restart), {"NotRequired", "RestartContainer"}));
    }
    if (restart_policy == "Never" && restart != "NotRequired") {
      policy.Add(
          meta::Invalid(list, meta::Quoted(restart), "must be 'NotRequired' when pod `restartPolicy` is 'Never'"));
    }
  }
}

void ValidateRestartPolicy(const Check& container) {
  constexpr std::size_t kMaxRules = 20, kMaxCodes = 255;
  const Checks rules = container.Each("restartPolicyRules");
  if (!container.Has("restartPolicy")) {
    if (rules.empty()) return;
    container.Require("restartPolicy", "must specify restartPolicy when restart rules are used");
  } else {
    ValidateEnum(container, "restartPolicy", {"Always", "Never", "OnFailure"});
  }
  if (rules.size() > kMaxRules)
    container.Add(meta::TooMany(container.Path().Child("restartPolicyRules").ToString(), rules.size(), kMaxRules));
  for (const Check& rule : rules) {
    if (ActiveRuleFeatures().restart_all_containers_on_container_exits) {
      ValidateEnum(rule, "action", {"Restart", "RestartAllContainers"});
    } else {
      ValidateEnum(rule, "action", {"Restart"});
    }
    const std::optional<Check> codes = rule.Child("exitCodes");
    if (!codes) {
      rule.Add(meta::Required(rule.Path().Child("exitCodes").ToString(), "must be specified"));
      continue;
    }
    if (const std::string_view op = codes->Text("operator"); op != "In" && op != "NotIn")
      codes->Add(meta::NotSupported(codes->Path().Child("operator").ToString(), meta::Quoted(op), {"In", "NotIn"}));
    if (const std::size_t count = SizeOf(*codes, "values"); count > kMaxCodes)
      codes->Add(meta::TooMany(codes->Path().Child("values").ToString(), count, kMaxCodes));
  }
}

void ValidateInitRestartPolicy(const Check& container) {
  if (container.Text("restartPolicy") != "Always" || ActiveRuleFeatures().restart_all_containers_on_container_exits)
    return ValidateRestartPolicy(container);
  if (!container.Each("restartPolicyRules").empty()) {
    container.Forbid("restartPolicyRules",
                     "restartPolicyRules are not allowed for init containers with restart policy Always");
  }
}

void ValidateCommon(const Check& container, const ContainerContext& context) {
  container.RequireName("name", meta::CheckDnsLabel);
  container.Require("image");
  container.RequireOneOf("terminationMessagePolicy", {"File", "FallbackToLogsOnError"});
  ValidatePorts(container);
  ValidateEnv(container);
  ValidateMounts(container, context.volumes);
  container.RequireOneOf("imagePullPolicy", {"Always", "IfNotPresent", "Never"});
  ValidateResources(container, context.claims, ResourcesOf::kContainer);
  ValidateResizePolicies(container, context.restart_policy);
  ValidateSecurityContext(container, context.host_users);
}

void ValidateInitContainer(const Check& container, std::optional<std::int64_t> grace_period) {
  if (container.Text("restartPolicy") == "Always") {
    ValidateLifecycle(container, grace_period);
    ValidateProbes(container, grace_period);
    return;
  }
  for (const char* field : {"lifecycle", "livenessProbe", "readinessProbe", "startupProbe"}) {
    container.Forbid(field, "may not be set for init containers without restartPolicy=Always");
  }
  for (const Check& policy : container.Each("resizePolicy")) {
    if (policy.Text("restartPolicy") == "RestartContainer")
      policy.Invalid("restartPolicy", "must not be set to 'RestartContainer' for non-sidecar initContainers");
  }
}

/// Checks the fields that an ephemeral container cannot have.
void ValidateEphemeralContainer(const Check& container) {
  constexpr const char* kForbidden = "cannot be set for an Ephemeral Container";
  for (const char* field : {"ports", "resources", "resizePolicy", "restartPolicy", "restartPolicyRules",
                            "livenessProbe", "readinessProbe", "startupProbe", "lifecycle"}) {
    const meta::json::value* value = meta::FindField(container.Object(), field);
    const bool empty = !value || value->is_null() || (value->is_object() && value->get_object().empty()) ||
                       (value->is_array() && value->get_array().empty());
    if (!empty) container.Forbid(field, kForbidden);
  }
  for (const Check& mount : container.Each("volumeMounts")) {
    for (const char* field : {"subPath", "subPathExpr"}) {
      if (!mount.Text(field).empty()) mount.Forbid(field, kForbidden);
    }
  }
}

void Unique(const Check& container, Names& names) {
  const std::string_view name = container.Text("name");
  if (names.Contains(name)) {
    container.Add(meta::Duplicate(container.Path().Child("name").ToString(), meta::Quoted(name)));
  } else if (!name.empty()) {
    names.Add(name);
  }
}

}  // namespace

void ValidateImageSpaces(const Check& container) {
  const auto is_space = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  const std::string_view image = container.Text("image");
  if (!image.empty() && (is_space(image.front()) || is_space(image.back())))
    container.Invalid("image", "must not have leading or trailing whitespace");
}

void ValidateContainers(const Check& spec, const ContainerContext& context) {
  const Checks containers = spec.Each("containers");
  if (containers.empty()) spec.Add(meta::Required(spec.Path().Child("containers").ToString(), ""));
  Names names;
  for (const Check& container : containers) {
    ValidateCommon(container, context);
    Unique(container, names);
    ValidateLifecycle(container, context.grace_period);
    ValidateProbes(container, context.grace_period);
    ValidateRestartPolicy(container);
  }
  HostPorts host_ports;
  for (const Check& container : containers) ValidateHostPorts(container, container.Path(), host_ports);
  for (const Check& container : spec.Each("initContainers")) {
    ValidateCommon(container, context);
    ValidateInitRestartPolicy(container);
    Unique(container, names);
    HostPorts own_host_ports;  // not shared, because init containers run one after the other
    // kube-apiserver reports these errors at the first init container.
    ValidateHostPorts(container, spec.Path().Child("initContainers").Index(0), own_host_ports);
    ValidateInitContainer(container, context.grace_period);
  }
  const Names targets = names;
  for (const Check& container : spec.Each("ephemeralContainers")) {
    ValidateCommon(container, context);
    ValidateImageSpaces(container);
    Unique(container, names);
    const std::string_view target = container.Text("targetContainerName");
    if (!target.empty() && !targets.Contains(target)) {
      container.Add(meta::NotFound(container.Path().Child("targetContainerName").ToString(), meta::Quoted(target)));
    }
    ValidateEphemeralContainer(container);
  }
}

}  // namespace apimesh::core_api
