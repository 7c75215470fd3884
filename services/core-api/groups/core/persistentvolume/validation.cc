#include "services/core-api/groups/core/persistentvolume/validation.h"

#include <algorithm>

#include <fmt/format.h>

#include "lib/base/text/text.h"
#include "services/core-api/groups/core/pod_spec/validation.h"
#include "services/core-api/validation/resource_names.h"
#include "services/core-api/validation/texts.h"

namespace apimesh::core_api {
namespace {

void ValidateCapacity(const Check& spec) {
  static const meta::json::object none;
  const meta::Path path = spec.Path().Child("capacity");
  const std::optional<Check> capacity = spec.Child("capacity");
  const meta::json::object& amounts = capacity ? capacity->Object() : none;
  if (amounts.empty()) spec.Add(meta::Required(path.ToString(), ""));
  if (!amounts.contains("storage") || amounts.size() > 1)
    spec.Add(meta::NotSupported(path.ToString(), Shown(meta::FindField(spec.Object(), "capacity")), {"storage"}));
  for (const auto& [name, value] : amounts) {
    const std::optional<meta::Quantity> amount = QuantityOf(&value);
    if (!amount) continue;
    if (amount->Value() < 0) {
      spec.Add(meta::Invalid(path.Key(name).ToString(), fmt::format("{}", amount->Value()),
                             "must be a valid resource quantity"));
    }
    ValidatePositive(spec, path.Key(name), *amount);
  }
}

/// Validates the fields that an inline spec must not have, or must have.
void ValidateInline(const Check& spec) {
  constexpr const char* kInline = "may not be specified in the context of inline volumes";
  spec.Forbid("claimRef", kInline);
  if (SizeOf(spec, "capacity") > 0) spec.Forbid("capacity", kInline);
  if (!spec.Has("csi"))
    spec.Add(
        meta::Required(spec.Path().Child("csi").ToString(), "has to be specified in the context of inline volumes"));
}

void ValidateReclaimPolicy(const Check& spec, VolumeLocation location) {
  const std::string_view policy = spec.Text("persistentVolumeReclaimPolicy");
  if (location == VolumeLocation::kObject) {
    spec.OneOf("persistentVolumeReclaimPolicy", {"Delete", "Recycle", "Retain"});
  } else if (!policy.empty() && policy != "Retain") {
    spec.Forbid("persistentVolumeReclaimPolicy", "may only be Retain in the context of inline volumes");
  }
}

bool ValidateNodeAffinity(const Check& spec, VolumeLocation location, bool check_values) {
  const std::optional<Check> affinity = spec.Child("nodeAffinity");
  if (!affinity) return false;
  if (location == VolumeLocation::kInline) {
    spec.Forbid("nodeAffinity", "may not be specified in the context of inline volumes");
    return false;
  }
  if (const std::optional<Check> required = affinity->Child("required")) {
    ValidateNodeSelector(*required, check_values);
  } else {
    affinity->Add(
        meta::Required(affinity->Path().Child("required").ToString(), "must specify required node constraints"));
  }
  return true;
}

void ValidateClasses(const Check& spec, VolumeLocation location) {
  if (location == VolumeLocation::kObject) {
    spec.Names("storageClassName", meta::CheckDnsSubdomain);
    ValidateVolumeMode(spec);
  } else {
    if (!spec.Text("storageClassName").empty())
      spec.Forbid("storageClassName", "may not be specified in the context of inline volumes");
    if (spec.Has("volumeMode") && spec.Text("volumeMode") != "Filesystem")
      spec.Forbid("volumeMode", "may not specify volumeMode other than Filesystem in the context of inline volumes");
  }
  if (!spec.Has("volumeAttributesClassName")) return;
  if (spec.Require("volumeAttributesClassName", "an empty string is disallowed"))
    spec.Names("volumeAttributesClassName", meta::CheckDnsSubdomain);
  if (!spec.Has("csi"))
    spec.Add(meta::Required(spec.Path().Child("csi").ToString(),
                            "has to be specified when using volumeAttributesClassName"));
}

/// Returns whether a path, without "." and empty parts, is "/". Paths with ".." were refused before.
bool IsRoot(std::string_view path) {
  return path.starts_with('/') && path.find_first_not_of("/.") == std::string_view::npos;
}

}  // namespace

void ValidateVolumeSpec(const Check& spec, std::string_view name, VolumeLocation location, bool check_affinity_values) {
  if (location == VolumeLocation::kInline) ValidateInline(spec);
  if (SizeOf(spec, "accessModes") == 0) spec.Add(meta::Required(spec.Path().Child("accessModes").ToString(), ""));
  ValidateAccessModes(spec);
  if (location == VolumeLocation::kObject) ValidateCapacity(spec);
  ValidateReclaimPolicy(spec, location);
  const bool has_affinity = ValidateNodeAffinity(spec, location, check_affinity_values);
  ValidateVolumeSources(spec, name, has_affinity);
  if (IsRoot(meta::FindString(spec.Object(), "hostPath", "path")) &&
      spec.Text("persistentVolumeReclaimPolicy") == "Recycle") {
    spec.Forbid("persistentVolumeReclaimPolicy", "may not be 'recycle' for a hostPath mount of '/'");
  }
  ValidateClasses(spec, location);
}

void ValidateAccessModes(const Check& spec) {
  static const std::vector<std::string> kModes = {"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"};
  const std::string path = spec.Path().Child("accessModes").ToString();
  bool one_pod = false, other = false;
  for (const std::string_view mode : TextsOf(spec, "accessModes")) {
    const bool known = std::find(kModes.begin(), kModes.end(), mode) != kModes.end();
    if (!known) spec.Add(meta::NotSupported(path, meta::Quoted(mode), kModes));
    one_pod |= mode == "ReadWriteOncePod";
    other |= known && mode != "ReadWriteOncePod";
  }
  if (one_pod && other) spec.Add(meta::Forbidden(path, "may not use ReadWriteOncePod with other access modes"));
}

void ValidateVolumeMode(const Check& spec) {
  static const std::vector<std::string> kModes = {"Block", "Filesystem"};
  const std::string_view mode = spec.Text("volumeMode");
  if (spec.Has("volumeMode") && std::find(kModes.begin(), kModes.end(), mode) == kModes.end())
    spec.Add(meta::NotSupported(spec.Path().Child("volumeMode").ToString(), meta::Quoted(mode), kModes));
}

void ValidateCsiDriverName(const Check& holder, std::string_view field) {
  if (!holder.Require(field)) return;
  const std::string_view name = holder.Text(field);
  const std::string path = holder.Path().Child(field).ToString();
  if (name.size() > 63) holder.Add(meta::TooLong(path, 63));
  for (std::string& complaint : meta::CheckDnsSubdomain(LowerCase(name)))
    holder.Add(meta::Invalid(path, meta::Quoted(name), std::move(complaint)));
}

std::string AccessModesText(const meta::json::value* modes) {
  static constexpr std::pair<std::string_view, std::string_view> kShort[] = {
      {"ReadWriteOnce", "RWO"}, {"ReadOnlyMany", "ROX"}, {"ReadWriteMany", "RWX"}, {"ReadWriteOncePod", "RWOP"}};
  std::string text;
  if (!modes || !modes->is_array()) return text;
  for (const auto& [mode, short_name] : kShort) {
    const auto is_mode = [&mode = mode](const auto& value) { return value.is_string() && value.get_string() == mode; };
    if (!std::any_of(modes->get_array().begin(), modes->get_array().end(), is_mode)) continue;
    if (!text.empty()) text += ',';
    text += short_name;
  }
  return text;
}

std::string_view StorageClassOf(const meta::Object& object) {
  const meta::json::value* annotation = FindAnnotation(object, kBetaStorageClass);
  if (annotation && annotation->is_string()) return annotation->get_string();
  return meta::FindString(object.Root(), "spec", "storageClassName");
}

std::string StorageText(const meta::json::value* resources) {
  if (!resources || !resources->is_object()) return "0";
  const std::optional<meta::Quantity> amount = QuantityOf(meta::FindField(resources->get_object(), "storage"));
  return amount ? amount->ToString() : "0";
}

}  // namespace apimesh::core_api
