#include "services/core-api/groups/core/persistentvolumeclaim/validation.h"

#include <algorithm>

#include <fmt/format.h>

#include "lib/meta/equal.h"
#include "lib/meta/object_meta.h"
#include "services/core-api/groups/core/persistentvolume/validation.h"
#include "services/core-api/validation/quantities.h"
#include "services/core-api/validation/resource_names.h"
#include "services/core-api/validation/spec_fields.h"
#include "services/core-api/validation/texts.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

void ValidateDataSource(const Check& source, bool any_api_group) {
  source.Require("name");
  source.Require("kind");
  const std::string_view group = source.Text("apiGroup"), kind = source.Text("kind");
  if (group.empty() && kind != "PersistentVolumeClaim") {
    source.Add(meta::Invalid(source.Path().ToString(), meta::Quoted(kind),
                             "must be 'PersistentVolumeClaim' when referencing the default apiGroup"));
  }
  if (!any_api_group) source.Names("apiGroup", meta::CheckDnsSubdomain);
}

void ValidateDataSources(const Check& spec, bool any_api_group) {
  const std::optional<Check> source = spec.Child("dataSource"), ref = spec.Child("dataSourceRef");
  if (source) ValidateDataSource(*source, any_api_group);
  if (!ref) return;
  ValidateDataSource(*ref, any_api_group);
  ref->Names("namespace", meta::CheckDnsLabel);
  if (!source) return;
  const auto refuse = [&spec](const char* why) {
    // The value of this error in kube-apiserver is the internal form of a path.
    spec.Add(meta::Invalid(spec.Path().ToString(), "{}", why));
  };
  const bool same =
      source->Text("kind") == ref->Text("kind") && source->Text("name") == ref->Text("name") &&
      meta::Equal(meta::FindField(source->Object(), "apiGroup"), meta::FindField(ref->Object(), "apiGroup"));
  if (!ref->Text("namespace").empty()) {
    refuse("may not be specified when dataSourceRef.namespace is specified");
  } else if (!same) {
    refuse("must match dataSourceRef");
  }
}

std::optional<meta::Quantity> Requested(const json::object& spec) {
  return QuantityOf(meta::Find(spec, "resources", "requests", "storage"));
}

void ValidateStorage(const Check& spec) {
  const meta::Path path = spec.Path().Child("resources").Key("storage");
  const std::optional<meta::Quantity> amount = Requested(spec.Object());
  if (!amount) {
    spec.Add(meta::Required(path.ToString(), ""));
  } else {
    ValidatePositive(spec, path, *amount);
  }
}

const json::value* ClassAnnotation(const meta::Object& claim) { return FindAnnotation(claim, kBetaStorageClass); }

std::string_view TextOrEmpty(const json::value* value) {
  return value && value->is_string() ? std::string_view(value->get_string()) : std::string_view();
}

/// Returns whether the update moves the storage class from the annotation to the spec, which is allowed.
bool MovesClassFromAnnotation(const meta::Object& claim, const meta::Object& old) {
  const json::value* before = ClassAnnotation(old);
  const json::value* now = ClassAnnotation(claim);
  const json::value* name = meta::Find(claim.Root(), "spec", "storageClassName");
  return before && !meta::Find(old.Root(), "spec", "storageClassName") && name &&
         TextOrEmpty(name) == TextOrEmpty(before) && (!now || TextOrEmpty(now) == TextOrEmpty(before));
}

/// Returns whether the update sets a storage class that was not set, which is allowed.
bool SetsMissingClass(const meta::Object& claim, const meta::Object& old) {
  const json::value* before = ClassAnnotation(old);
  const json::value* name = meta::Find(claim.Root(), "spec", "storageClassName");
  return name && !meta::Find(old.Root(), "spec", "storageClassName") &&
         (!before || TextOrEmpty(name) == TextOrEmpty(before));
}

void SetOrErase(json::object& object, std::string_view field, const json::value* value) {
  if (value) {
    object[json::string_view(field.data(), field.size())] = *value;
  } else {
    meta::EraseField(object, field);
  }
}

/// Compares the specs without the changes that are allowed.
void ValidateSpecChange(const meta::Object& claim, const meta::Object& old, bool class_may_change,
                        meta::FieldErrors& errors) {
  json::object now = SpecOf(claim, errors).Object();
  json::object before = SpecOf(old, errors).Object();
  SyncDataSources(before, &before);
  if (meta::FindString(before, "volumeName").empty())
    SetOrErase(before, "volumeName", meta::FindField(now, "volumeName"));
  if (class_may_change) SetOrErase(now, "storageClassName", meta::FindField(before, "storageClassName"));
  if (meta::FindString(claim.Root(), "status", "phase") == "Bound") {
    json::value* requests = meta::Find(now, "resources", "requests");
    const json::value* storage = meta::Find(before, "resources", "requests", "storage");
    if (requests && requests->is_object()) SetOrErase(requests->get_object(), "storage", storage);
    SetOrErase(now, "volumeAttributesClassName", meta::FindField(before, "volumeAttributesClassName"));
  }
  if (!meta::Equal(now, before)) {
    errors.push_back(meta::Forbidden("spec",
                                     "spec is immutable after creation except resources.requests and "
                                     "volumeAttributesClassName for bound claims"));
  }
}

void ValidateSize(const meta::Object& claim, const meta::Object& old, meta::FieldErrors& errors) {
  const meta::Quantity now = Requested(SpecOf(claim, errors).Object()).value_or(meta::Quantity());
  const meta::Quantity before = Requested(SpecOf(old, errors).Object()).value_or(meta::Quantity());
  const meta::Quantity capacity =
      QuantityOf(meta::Find(old.Root(), "status", "capacity", "storage")).value_or(meta::Quantity());
  if (now < before && now <= capacity) {
    errors.push_back(meta::Forbidden("spec.resources.requests.storage", "field can not be less than status.capacity"));
  }
}

void ValidateAttributesClassChange(const meta::Object& claim, const meta::Object& old, meta::FieldErrors& errors) {
  constexpr const char* kField = "volumeAttributesClassName";
  const json::value* now = meta::Find(claim.Root(), "spec", kField);
  if (meta::Equal(now, meta::Find(old.Root(), "spec", kField))) return;
  if (!meta::Find(old.Root(), "status", "currentVolumeAttributesClassName")) return;
  const std::string to = !now ? "nil" : TextOrEmpty(now).empty() ? "empty string" : "";
  if (to.empty()) return;
  errors.push_back(meta::Forbidden(
      "spec.volumeAttributesClassName",
      fmt::format("update to {} is forbidden when status.currentVolumeAttributesClassName is not nil", to)));
}

/// Validates the name of a resource in the status of a claim. Returns whether it is valid.
bool ValidateStatusResource(const Check& status, const std::string& path, std::string_view name) {
  meta::Complaints complaints = meta::CheckQualifiedName(name);
  for (std::string& complaint : complaints) status.Add(meta::Invalid(path, meta::Quoted(name), std::move(complaint)));
  if (!complaints.empty()) return false;
  if (!IsNativeResource(name) || name == "storage") return true;
  status.Add(meta::NotSupported(path, meta::Quoted(name), {"storage"}));
  return false;
}

bool ValidateBasicAmount(const Check& status, const meta::Path& path, const std::optional<meta::Quantity>& amount) {
  if (!amount || amount->Value() >= 0) return true;
  status.Add(meta::Invalid(path.ToString(), fmt::format("{}", amount->Value()), "must be a valid resource quantity"));
  return false;
}

}  // namespace

void ValidateClaimSpec(const Check& spec, bool any_api_group) {
  if (SizeOf(spec, "accessModes") == 0) {
    spec.Add(meta::Required(spec.Path().Child("accessModes").ToString(), "at least 1 access mode is required"));
  }
  if (const std::optional<Check> selector = spec.Child("selector")) {
    for (meta::FieldError& error : meta::ValidateLabelSelector(selector->Object(), selector->Path()))
      spec.Add(std::move(error));
  }
  ValidateAccessModes(spec);
  ValidateStorage(spec);
  spec.Names("storageClassName", meta::CheckDnsSubdomain);
  ValidateVolumeMode(spec);
  ValidateDataSources(spec, any_api_group);
  spec.Names("volumeAttributesClassName", meta::CheckDnsSubdomain);
}

std::vector<std::string> ClaimSpecWarnings(const json::object& spec, const meta::Path& path) {
  std::vector<std::string> warnings;
  for (const char* list : {"requests", "limits"}) {
    const auto amount = QuantityOf(meta::Find(spec, "resources", list, "storage"));
    if (!amount || amount->MilliValue() % 1000 == 0) continue;
    warnings.push_back(fmt::format("{}: fractional byte value {} is invalid, must be an integer",
                                   path.Child("resources").Child(list).Key("storage").ToString(),
                                   meta::Quoted(amount->ToString())));
  }
  return warnings;
}

meta::FieldErrors ValidateClaimUpdate(const meta::Object& claim, const meta::Object& old) {
  meta::FieldErrors errors;
  const auto has_group = [&old](const char* source) {
    const json::value* group = meta::Find(old.Root(), "spec", source, "apiGroup");
    return group && group->is_string();
  };
  const bool any_api_group = has_group("dataSource") || has_group("dataSourceRef");
  ValidateClaimSpec(SpecOf(claim, errors), any_api_group);
  bool class_may_change = MovesClassFromAnnotation(claim, old);
  if (!class_may_change) {
    const std::string_view now = TextOrEmpty(ClassAnnotation(claim));
    if (now != TextOrEmpty(ClassAnnotation(old))) {
      errors.push_back(meta::Invalid(fmt::format("metadata.annotations.{}", kBetaStorageClass), meta::Quoted(now),
                                     "field is immutable"));
    }
    class_may_change = SetsMissingClass(claim, old);
  }
  ValidateSpecChange(claim, old, class_may_change, errors);
  ValidateSize(claim, old, errors);
  const json::value* mode = meta::Find(claim.Root(), "spec", "volumeMode");
  if (!meta::Equal(mode, meta::Find(old.Root(), "spec", "volumeMode")))
    errors.push_back(meta::Invalid("volumeMode", Shown(mode), "field is immutable"));
  ValidateAttributesClassChange(claim, old, errors);
  return errors;
}

meta::FieldErrors ValidateClaimStatusUpdate(const meta::Object& claim) {
  meta::FieldErrors errors;
  const Check root(claim.Root(), meta::Path(), errors);
  const std::optional<Check> status = root.Child("status");
  if (!status) return errors;
  if (const std::optional<Check> capacity = status->Child("capacity")) {
    for (const auto& [name, value] : capacity->Object())
      ValidateBasicAmount(*status, capacity->Path().Key(name), QuantityOf(&value));
  }
  if (const std::optional<Check> resizes = status->Child("allocatedResourceStatuses")) {
    static const std::vector<std::string> kStates = {"ControllerResizeInProgress", "ControllerResizeInfeasible",
                                                     "NodeResizeInProgress", "NodeResizeInfeasible",
                                                     "NodeResizePending"};
    const std::string path = resizes->Path().ToString();
    for (const auto& [name, value] : resizes->Object()) {
      ValidateStatusResource(*status, path, name);
      if (std::find(kStates.begin(), kStates.end(), TextOrEmpty(&value)) == kStates.end())
        status->Add(meta::NotSupported(path, meta::Quoted(name), kStates));
    }
  }
  if (const std::optional<Check> allocated = status->Child("allocatedResources")) {
    for (const auto& [name, value] : allocated->Object()) {
      if (!ValidateStatusResource(*status, allocated->Path().ToString(), name)) continue;
      ValidateBasicAmount(*status, allocated->Path().Key(name), QuantityOf(&value));
    }
  }
  return errors;
}

}  // namespace apimesh::core_api
