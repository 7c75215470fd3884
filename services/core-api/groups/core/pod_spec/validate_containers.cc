#include <fmt/format.h>

#include "services/core-api/groups/core/pod_spec/validation.h"

namespace apimesh::core_api {
namespace {

using Names = std::set<std::string, std::less<>>;

void ValidatePorts(const Check& container) {
  Names names;
  for (const Check& port : container.Each("ports")) {
    if (const std::string_view name = port.Text("name"); !name.empty()) {
      const meta::Complaints complaints = meta::CheckPortName(name);
      for (const std::string& complaint : complaints) port.Invalid("name", complaint);
      if (complaints.empty() && !names.emplace(name).second) {
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

/// Two containers that run at the same time can't take the same port of the node.
void ValidateHostPorts(const std::vector<Check>& containers) {
  Names taken;
  for (const Check& container : containers) {
    for (const Check& port : container.Each("ports")) {
      const std::int64_t number = port.Number("hostPort").value_or(0);
      if (number == 0) continue;
      const std::string key = fmt::format("{}/{}/{}", port.Text("protocol"), port.Text("hostIP"), number);
      if (!taken.insert(key).second) port.Add(meta::Duplicate(port.Path().Child("hostPort").ToString(), meta::Quoted(key)));
    }
  }
}

void ValidateRelativePath(const Check& mount, std::string_view field, const meta::Path& list) {
  const std::string_view path = mount.Text(field);
  if (path.empty()) return;
  // The reference puts the complaint at the list, not at its element.
  const auto complain = [&](std::string detail) {
    mount.Add(meta::Invalid(list.Child(field).ToString(), meta::Quoted(path), std::move(detail)));
  };
  if (path.front() == '/') complain("must be a relative path");
  if (fmt::format("/{}/", path).find("/../") != std::string::npos) complain("must not contain '..'");
}

void ValidateMounts(const Check& container, const Names& volumes) {
  std::map<std::string_view, std::string_view> devices;  // path by name
  Names device_paths;
  for (const Check& device : container.Each("volumeDevices")) {
    devices[device.Text("name")] = device.Text("devicePath");
    device_paths.emplace(device.Text("devicePath"));
  }
  Names paths;
  for (const Check& mount : container.Each("volumeMounts")) {
    const std::string_view name = mount.Text("name"), path = mount.Text("mountPath");
    mount.Require("name");
    if (!volumes.contains(name)) mount.Add(meta::NotFound(mount.Path().Child("name").ToString(), meta::Quoted(name)));
    mount.Require("mountPath");
    if (!paths.emplace(path).second) mount.Invalid("mountPath", "must be unique");
    if (devices.contains(name)) mount.Invalid("name", "must not already exist in volumeDevices");
    if (device_paths.contains(path)) mount.Invalid("mountPath", "must not already exist as a path in volumeDevices");
    const meta::Path list = container.Path().Child("volumeMounts");
    ValidateRelativePath(mount, "subPath", list);
    if (!mount.Text("subPathExpr").empty() && !mount.Text("subPath").empty()) {
      mount.Invalid("subPathExpr", "subPathExpr and subPath are mutually exclusive");
    }
    ValidateRelativePath(mount, "subPathExpr", list);
  }
  for (const Check& device : container.Each("volumeDevices")) {
    device.Require("name");
    device.Require("devicePath");
    if (!volumes.contains(device.Text("name"))) device.Add(meta::NotFound(device.Path().Child("name").ToString(), meta::Quoted(device.Text("name"))));
  }
}

void ValidateSecurityContext(const Check& container) {
  const std::optional<Check> context = container.Child("securityContext");
  if (!context) return;
  for (const char* field : {"runAsUser", "runAsGroup"}) {
    if (const auto id = context->Number(field); id && (*id < 0 || *id > 2147483647)) context->Invalid(field, "must be between 0 and 2147483647, inclusive");
  }
  context->OneOf("procMount", {"Default", "Unmasked"});
  const meta::json::value* escalation = meta::FindField(context->Object(), "allowPrivilegeEscalation");
  if (escalation && escalation->is_bool() && !escalation->get_bool()) {
    if (context->IsTrue("privileged")) {
      context->Add(meta::Invalid(context->Path().ToString(), Shown(meta::FindField(container.Object(), "securityContext")),
                                 "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"));
    }
    if (const std::optional<Check> capabilities = context->Child("capabilities")) {
      const meta::json::value* add = meta::FindField(capabilities->Object(), "add");
      if (add && add->is_array() &&
          std::any_of(add->get_array().begin(), add->get_array().end(), [](const auto& one) { return one.is_string() && one.get_string() == "CAP_SYS_ADMIN"; })) {
        context->Add(meta::Invalid(context->Path().ToString(), Shown(meta::FindField(container.Object(), "securityContext")),
                                   "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN"));
      }
    }
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
  ValidateResources(container, context.claims);
  ValidateSecurityContext(container);
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
}

void ValidateEphemeralContainer(const Check& container) {
  for (const char* field : {"ports", "livenessProbe", "readinessProbe", "startupProbe", "lifecycle", "resources", "resizePolicy", "restartPolicy"}) {
    const meta::json::value* value = meta::FindField(container.Object(), field);
    const bool empty = !value || value->is_null() || (value->is_object() && value->get_object().empty()) || (value->is_array() && value->get_array().empty());
    if (!empty) container.Forbid(field, "cannot be set for an Ephemeral Container");
  }
}

void Unique(const Check& container, Names& names) {
  const std::string_view name = container.Text("name");
  if (names.contains(name)) {
    container.Add(meta::Duplicate(container.Path().Child("name").ToString(), meta::Quoted(name)));
  } else if (!name.empty()) {
    names.emplace(name);
  }
}

}  // namespace

void ValidateContainers(const Check& spec, const ContainerContext& context) {
  const std::vector<Check> containers = spec.Each("containers");
  if (containers.empty()) spec.Add(meta::Required(spec.Path().Child("containers").ToString(), ""));
  Names names;
  for (const Check& container : containers) {
    ValidateCommon(container, context);
    Unique(container, names);
    ValidateLifecycle(container, context.grace_period);
    ValidateProbes(container, context.grace_period);
    container.OneOf("restartPolicy", {"Always", "OnFailure", "Never"});
  }
  ValidateHostPorts(containers);
  for (const Check& container : spec.Each("initContainers")) {
    ValidateCommon(container, context);
    container.OneOf("restartPolicy", {"Always", "OnFailure", "Never"});
    Unique(container, names);
    ValidateHostPorts({container});
    ValidateInitContainer(container, context.grace_period);
  }
  for (const Check& container : spec.Each("ephemeralContainers")) {
    ValidateCommon(container, context);
    Unique(container, names);
    ValidateEphemeralContainer(container);
    const std::string_view target = container.Text("targetContainerName");
    if (!target.empty() && !names.contains(target)) {
      container.Add(meta::NotFound(container.Path().Child("targetContainerName").ToString(), meta::Quoted(target)));
    }
  }
}

}  // namespace apimesh::core_api
