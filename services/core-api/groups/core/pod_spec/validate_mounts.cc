#include <map>

#include <fmt/format.h>

#include "services/core-api/groups/core/pod_spec/validation.h"

namespace apimesh::core_api {
namespace {

void ValidateRelativePath(const Check& mount, std::string_view field, const meta::Path& list) {
  const std::string_view path = mount.Text(field);
  if (path.empty()) return;
  // kube-apiserver reports the error at the list, not at its element.
  const auto complain = [&](std::string detail) {
    mount.Add(meta::Invalid(list.Child(field).ToString(), meta::Quoted(path), std::move(detail)));
  };
  if (path.front() == '/') complain("must be a relative path");
  if (fmt::format("/{}/", path).find("/../") != std::string::npos) complain("must not contain '..'");
}

/// kube-apiserver reports the errors of these two fields at the list as well.
void ValidatePropagation(const Check& mount, const Check& container, const meta::Path& list) {
  const std::string path = list.Child("mountPropagation").ToString();
  const meta::json::value* value = meta::FindField(mount.Object(), "mountPropagation");
  if (!value || !value->is_string()) return;
  const std::string_view propagation = mount.Text("mountPropagation");
  if (propagation != "Bidirectional" && propagation != "HostToContainer" && propagation != "None") {
    mount.Add(meta::NotSupported(path, meta::Quoted(propagation), {"Bidirectional", "HostToContainer", "None"}));
  }
  const std::optional<Check> context = container.Child("securityContext");
  if (propagation == "Bidirectional" && !(context && context->IsTrue("privileged"))) {
    mount.Add(meta::Forbidden(path, "Bidirectional mount propagation is available only to privileged containers"));
  }
}

void ValidateRecursiveReadOnly(const Check& mount, const meta::Path& list) {
  if (!mount.Has("recursiveReadOnly")) return;
  const std::string path = list.Child("recursiveReadOnly").ToString();
  const std::string_view mode = mount.Text("recursiveReadOnly");
  if (mode == "Disabled") return;
  if (mode != "Enabled" && mode != "IfPossible") {
    mount.Add(meta::NotSupported(path, meta::Quoted(mode), {"Disabled", "Enabled", "IfPossible"}));
    return;
  }
  if (!mount.IsTrue("readOnly")) mount.Add(meta::Forbidden(path, "may only be specified when readOnly is true"));
  if (mount.Has("mountPropagation") && mount.Text("mountPropagation") != "None") {
    mount.Add(meta::Forbidden(path, "may only be specified when mountPropagation is None or not specified"));
  }
}

/// The names and paths of the mounts or devices of a container.
struct Used {
  TextIndex names, paths;
};
Used UsedBy(const Check& container, std::string_view list, std::string_view path) {
  Used used;
  for (const Check& item : container.Each(list)) {
    used.names.Add(item.Text("name"));
    used.paths.Add(item.Text(path));
  }
  return used;
}

void ValidateDevices(const Check& container, const PodVolumes& volumes) {
  const Used mounts = UsedBy(container, "volumeMounts", "mountPath");
  TextIndex names, paths;
  for (const Check& device : container.Each("volumeDevices")) {
    const std::string_view name = device.Text("name"), path = device.Text("devicePath");
    device.Require("name");
    if (!names.Add(name).is_new) device.Invalid("name", "must be unique");
    if (volumes.names.Contains(name) && !volumes.claims.Contains(name)) {
      device.Invalid("name", "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode");
    } else if (!volumes.names.Contains(name)) {
      device.Add(meta::NotFound(device.Path().Child("name").ToString(), meta::Quoted(name)));
    }
    device.Require("devicePath");
    if (!paths.Add(path).is_new) device.Invalid("devicePath", "must be unique");
    if (!path.empty() && fmt::format("/{}/", path).find("/../") != std::string::npos) {
      device.Invalid("devicePath", "can not contain backsteps ('..')");
    }
    if (mounts.names.Contains(name)) device.Invalid("name", "must not already exist in volumeMounts");
    if (mounts.paths.Contains(path)) device.Invalid("devicePath", "must not already exist as a path in volumeMounts");
  }
}

}  // namespace

void ValidateMounts(const Check& container, const PodVolumes& volumes) {
  const Used devices = UsedBy(container, "volumeDevices", "devicePath");
  const meta::Path list = container.Path().Child("volumeMounts");
  TextIndex paths;
  for (const Check& mount : container.Each("volumeMounts")) {
    const std::string_view name = mount.Text("name"), path = mount.Text("mountPath");
    mount.Require("name");
    if (!volumes.names.Contains(name))
      mount.Add(meta::NotFound(mount.Path().Child("name").ToString(), meta::Quoted(name)));
    mount.Require("mountPath");
    if (!paths.Add(path).is_new) mount.Invalid("mountPath", "must be unique");
    if (devices.names.Contains(name)) mount.Invalid("name", "must not already exist in volumeDevices");
    if (devices.paths.Contains(path)) mount.Invalid("mountPath", "must not already exist as a path in volumeDevices");
    ValidateRelativePath(mount, "subPath", list);
    if (!mount.Text("subPathExpr").empty() && !mount.Text("subPath").empty()) {
      mount.Invalid("subPathExpr", "subPathExpr and subPath are mutually exclusive");
    }
    ValidateRelativePath(mount, "subPathExpr", list);
    ValidatePropagation(mount, container, list);
    ValidateRecursiveReadOnly(mount, list);
  }
  ValidateDevices(container, volumes);
}

}  // namespace apimesh::core_api
