#include "services/core-api/groups/core/persistentvolume/persistentvolume.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "lib/meta/equal.h"
#include "lib/meta/time.h"
#include "lib/registry/status_strategy.h"
#include "services/core-api/features/rule_features.h"
#include "services/core-api/groups/columns.h"
#include "services/core-api/groups/core/node/deprecated_labels.h"
#include "services/core-api/groups/core/persistentvolume/validation.h"
#include "services/core-api/groups/kind_inputs.h"
#include "services/core-api/resources/generic.h"
#include "services/core-api/validation/spec_fields.h"
#include "services/core-api/validation/texts.h"
#include "services/core-api/validation/walk.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

constexpr std::string_view kMountOptions = "volume.beta.kubernetes.io/mount-options";

/// Forbids mount options for sources that do not support them.
void ValidateMountOptions(const meta::Object& volume, meta::FieldErrors& errors) {
  static constexpr std::array kSupported = {"gcePersistentDisk",
                                            "awsElasticBlockStore",
                                            "glusterfs",
                                            "nfs",
                                            "rbd",
                                            "quobyte",
                                            "iscsi",
                                            "cinder",
                                            "cephfs",
                                            "azureFile",
                                            "vsphereVolume",
                                            "azureDisk",
                                            "photonPersistentDisk"};
  if (!FindAnnotation(volume, kMountOptions)) return;
  for (const char* source : kSupported) {
    const json::value* value = meta::Find(volume.Root(), "spec", source);
    if (value && value->is_object()) return;
  }
  errors.push_back(meta::Forbidden(fmt::format("metadata.annotations.{}", kMountOptions),
                                   "may not specify mount options for this volume type"));
}

bool HasValidAffinityValues(const meta::Object& volume) {
  const json::value* terms = meta::Find(volume.Root(), "spec", "nodeAffinity", "required", "nodeSelectorTerms");
  for (const json::object& term : Objects(terms)) {
    for (const json::object& expression : Objects(meta::FindField(term, "matchExpressions"))) {
      meta::FieldErrors ignored;
      for (const std::string_view value : TextsOf(Check(expression, meta::Path(), ignored), "values")) {
        if (!meta::CheckLabelValue(value).empty()) return false;
      }
    }
  }
  return true;
}

/// Returns the current name of a node label that has a beta name, or "".
std::string_view CurrentLabel(std::string_view beta) {
  static constexpr std::pair<std::string_view, std::string_view> kRenamed[] = {
      {"failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"},
      {"failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"},
      {"beta.kubernetes.io/os", "kubernetes.io/os"},
      {"beta.kubernetes.io/arch", "kubernetes.io/arch"},
      {"beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type"}};
  for (const auto& [name, current] : kRenamed) {
    if (name == beta) return current;
  }
  return "";
}

/// Returns the old node affinity with the current names of labels, where the new one has the current name.
json::value RenameLabels(json::value old, const json::object& now) {
  const auto new_terms = Objects(meta::Find(now, "required", "nodeSelectorTerms"));
  const auto terms = Objects(meta::Find(old.get_object(), "required", "nodeSelectorTerms"));
  for (std::size_t t = 0; t < std::min(terms.size(), new_terms.size()); ++t) {
    const auto new_expressions = Objects(meta::FindField(new_terms[t].get(), "matchExpressions"));
    const auto expressions = Objects(meta::FindField(terms[t].get(), "matchExpressions"));
    for (std::size_t e = 0; e < std::min(expressions.size(), new_expressions.size()); ++e) {
      const std::string_view current = CurrentLabel(meta::FindString(expressions[e].get(), "key"));
      if (!current.empty() && current == meta::FindString(new_expressions[e].get(), "key"))
        expressions[e].get()["key"] = json::string(current);
    }
  }
  return old;
}

/// Validates that the node affinity stays the same. Beta names of labels may be replaced by the current names.
void ValidateSameAffinity(const Check& now, const Check& before, meta::FieldErrors& errors) {
  const json::value* old = meta::FindField(before.Object(), "nodeAffinity");
  const json::value* affinity = meta::FindField(now.Object(), "nodeAffinity");
  if (ActiveRuleFeatures().mutable_pv_node_affinity || !before.Has("nodeAffinity") || meta::Equal(affinity, old))
    return;
  if (affinity && affinity->is_object() && old->is_object() &&
      meta::Equal(RenameLabels(*old, affinity->get_object()), *affinity))
    return;
  errors.push_back(
      meta::Invalid("nodeAffinity", Shown(affinity), "field is immutable, except for updating from beta label to GA"));
}

/// Returns whether both volumes have the same source. A secret for expansion may be added to a CSI volume.
bool SameSource(const json::object& now, const json::object& before) {
  constexpr const char* kExpand = "controllerExpandSecretRef";
  for (const std::string_view field : VolumeSourceFields()) {
    const json::value* a = meta::FindField(now, field);
    const json::value* b = meta::FindField(before, field);
    if (meta::Equal(a, b)) continue;
    const bool csi = field == "csi" && a && b && a->is_object() && b->is_object();
    if (!csi || b->get_object().contains(kExpand)) return false;
    json::value without = *a;
    meta::EraseField(without.get_object(), kExpand);
    if (!meta::Equal(without, *b)) return false;
  }
  return true;
}

void ValidateChanges(const meta::Object& volume, const meta::Object& old, meta::FieldErrors& errors) {
  const Check now = SpecOf(volume, errors), before = SpecOf(old, errors);
  if (!SameSource(now.Object(), before.Object())) {
    errors.push_back(
        meta::Forbidden("spec.persistentvolumesource", "spec.persistentvolumesource is immutable after creation"));
  }
  const json::value* mode = meta::FindField(now.Object(), "volumeMode");
  if (!meta::Equal(mode, meta::FindField(before.Object(), "volumeMode")))
    errors.push_back(meta::Invalid("volumeMode", Shown(mode), "field is immutable"));
  ValidateSameAffinity(now, before, errors);
  if (before.Has("volumeAttributesClassName") && !now.Has("volumeAttributesClassName")) {
    errors.push_back(
        meta::Forbidden("spec.volumeAttributesClassName", "update from non-nil value to nil is forbidden"));
  }
}

std::vector<std::string> VolumeWarnings(const meta::Object& volume) {
  std::vector<std::string> warnings;
  meta::FieldErrors ignored;
  const Check spec = SpecOf(volume, ignored);
  const auto annotation = [&](std::string_view key, std::string_view why) {
    if (FindAnnotation(volume, key)) warnings.push_back(fmt::format("metadata.annotations[{}]: {}", key, why));
  };
  annotation(kBetaStorageClass, R"(deprecated since v1.8; use "storageClassName" attribute instead)");
  annotation(kMountOptions, R"(deprecated since v1.31; use "mountOptions" attribute instead)");
  if (spec.Text("persistentVolumeReclaimPolicy") == "Recycle") {
    warnings.emplace_back(
        "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended "
        "approach is to use dynamic provisioning.");
  }
  std::size_t term_index = 0;
  const json::value* terms = meta::Find(spec.Object(), "nodeAffinity", "required", "nodeSelectorTerms");
  for (const json::object& term : Objects(terms)) {
    std::size_t index = 0;
    for (const json::object& expression : Objects(meta::FindField(term, "matchExpressions"))) {
      const std::string_view key = meta::FindString(expression, "key");
      if (const std::string_view why = DeprecatedNodeLabel(key); !why.empty()) {
        warnings.push_back(
            fmt::format("spec.nodeAffinity.required.nodeSelectorTerms[{}].matchExpressions[{}].key: {} is {}",
                        term_index, index, key, why));
      }
      ++index;
    }
    ++term_index;
  }
  static constexpr std::array<std::array<const char*, 3>, 6> kDeprecated = {
      {{"cephfs", "cephfs", "v1.28, non-functional in v1.31+"},
       {"photonPersistentDisk", "photonPersistentDisk", "v1.11, non-functional in v1.16+"},
       {"scaleIO", "scaleIO", "v1.16, non-functional in v1.22+"},
       {"storageos", "storageOS", "v1.22, non-functional in v1.25+"},
       {"glusterfs", "glusterfs", "v1.25, non-functional in v1.26+"},
       {"rbd", "rbd", "v1.28, non-functional in v1.31+"}}};
  for (const auto& [field, shown, since] : kDeprecated) {
    if (spec.Has(field)) warnings.push_back(fmt::format("spec.{}: deprecated in {}", shown, since));
  }
  return warnings;
}

class VolumeStrategy final : public registry::SpecStrategy {
 public:
  explicit VolumeStrategy(const Clock& clock) : clock_(clock) {}

  void Default(json::object& object) const override {
    json::object& spec = meta::MakeObject(object, "spec");
    if (meta::FindString(spec, "persistentVolumeReclaimPolicy").empty())
      spec["persistentVolumeReclaimPolicy"] = "Retain";
    if (!spec.contains("volumeMode")) spec["volumeMode"] = "Filesystem";
    json::object& status = meta::MakeObject(object, "status");
    if (meta::FindString(status, "phase").empty()) status["phase"] = "Pending";
  }
  void PrepareForCreate(const meta::RequestContext&, meta::Object& object) const override {
    object.Root()["status"] = {{"phase", "Pending"}, {"lastPhaseTransitionTime", meta::FormatTime(clock_.Now())}};
  }
  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& object) const override {
    return ValidateAll(object, true);
  }
  /// kube-apiserver validates the object twice in an update, so its errors occur twice.
  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& object,
                                   const meta::Object& old) const override {
    const bool check_values = HasValidAffinityValues(old);
    meta::FieldErrors errors = ValidateAll(object, check_values);
    ValidateVolumeSpec(SpecOf(object, errors), object.Name(), VolumeLocation::kObject, check_values);
    ValidateChanges(object, old, errors);
    return errors;
  }
  std::vector<std::string> Warnings(const meta::RequestContext&, const meta::Object& object,
                                    const meta::Object*) const override {
    return VolumeWarnings(object);
  }

 private:
  static meta::FieldErrors ValidateAll(const meta::Object& object, bool check_values) {
    meta::FieldErrors errors;
    ValidateVolumeSpec(SpecOf(object, errors), object.Name(), VolumeLocation::kObject, check_values);
    ValidateMountOptions(object, errors);
    return errors;
  }

  const Clock& clock_;
};

class VolumeStatusStrategy final : public registry::StatusStrategy {
 public:
  VolumeStatusStrategy(registry::StrategyPtr base, const Clock& clock)
      : StatusStrategy(std::move(base)), clock_(clock) {}
  /// Sets the time of the last change of the phase, unless the client sets it.
  void PrepareForUpdate(const meta::RequestContext& ctx, meta::Object& object, const meta::Object& old) const override {
    StatusStrategy::PrepareForUpdate(ctx, object, old);
    constexpr const char* kTime = "lastPhaseTransitionTime";
    json::object& status = meta::MakeObject(object.Root(), "status");
    const std::string before(meta::FindString(old.Root(), "status", kTime));
    const std::string now(meta::FindString(status, kTime));
    const bool same_phase = meta::FindString(status, "phase") == meta::FindString(old.Root(), "status", "phase");
    if (same_phase && now.empty() && !before.empty()) status[kTime] = before;
    if (!same_phase && (now.empty() || now == before)) status[kTime] = meta::FormatTime(clock_.Now());
  }

 private:
  const Clock& clock_;
};

json::array Cells(const meta::Object& object, meta::Ages& ages) {
  const json::object& root = object.Root();
  const json::value* claim = meta::Find(root, "spec", "claimRef");
  const std::string claim_name = !claim || !claim->is_object()
                                     ? ""
                                     : fmt::format("{}/{}", meta::FindString(claim->get_object(), "namespace"),
                                                   meta::FindString(claim->get_object(), "name"));
  const bool deleted = !object.DeletionTimestamp().empty();
  return {json::string(object.Name()),
          StorageText(meta::Find(root, "spec", "capacity")),
          AccessModesText(meta::Find(root, "spec", "accessModes")),
          TextCell(meta::FindString(root, "spec", "persistentVolumeReclaimPolicy")),
          TextCell(deleted ? "Terminating" : meta::FindString(root, "status", "phase")),
          claim_name,
          TextCell(StorageClassOf(object)),
          TextCell(meta::FindString(root, "spec", "volumeAttributesClassName"), "<unset>"),
          TextCell(meta::FindString(root, "status", "reason")),
          AgeCell(object, ages),
          TextCell(meta::FindString(root, "spec", "volumeMode"), "<unset>")};
}

}  // namespace

registry::Resource PersistentVolumeResource(const KindInputs& inputs) {
  registry::Resource resource =
      FromTable("", "v1", "persistentvolumes", std::make_shared<VolumeStrategy>(*inputs.clock));
  SubresourceOf(resource, "status").strategy = std::make_shared<VolumeStatusStrategy>(resource.strategy, *inputs.clock);
  resource.returns_deleted_object = true;
  resource.table = {
      {NameColumn(),
       {.name = "Capacity", .description = "Size of the volume."},
       {.name = "Access Modes", .description = "How the volume can be mounted."},
       {.name = "Reclaim Policy", .description = "What happens to the volume when its claim is deleted."},
       {.name = "Status", .description = "Phase of the volume."},
       {.name = "Claim", .description = "The claim that uses the volume."},
       {.name = "StorageClass", .description = "Storage class of the volume."},
       {.name = "VolumeAttributesClass", .description = "Volume attributes class of the volume."},
       {.name = "Reason", .description = "Reason of the phase."},
       AgeColumn(),
       WideColumn("VolumeMode", "Whether the volume is a file system or a block device.")},
      &Cells,
      {"metadata.name", "metadata.creationTimestamp", "metadata.deletionTimestamp", "metadata.annotations",
       "spec.capacity", "spec.accessModes", "spec.persistentVolumeReclaimPolicy", "spec.claimRef",
       "spec.storageClassName", "spec.volumeAttributesClassName", "spec.volumeMode", "status.phase", "status.reason"}};
  return resource;
}

}  // namespace apimesh::core_api
