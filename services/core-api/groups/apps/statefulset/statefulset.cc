#include "services/core-api/groups/apps/statefulset/statefulset.h"

#include <set>

#include <fmt/format.h>

#include "lib/meta/equal.h"
#include "lib/meta/names.h"
#include "lib/meta/object_meta.h"
#include "services/core-api/groups/apps/workload/workload.h"
#include "services/core-api/groups/columns.h"
#include "services/core-api/groups/core/persistentvolumeclaim/validation.h"
#include "services/core-api/groups/core/pod_spec/template.h"
#include "services/core-api/groups/core/pod_spec/warnings/warnings.h"
#include "services/core-api/resources/generic.h"
#include "services/core-api/validation/walk.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

void DefaultRollout(json::object& given) {
  json::object& strategy = meta::MakeObject(given, "updateStrategy");
  if (meta::FindString(strategy, "type").empty()) {
    strategy["type"] = "RollingUpdate";
    meta::MakeObject(strategy, "rollingUpdate");
  }
  json::value* rolling = meta::FindField(strategy, "rollingUpdate");
  if (meta::FindString(strategy, "type") != "RollingUpdate" || !rolling || !rolling->is_object()) return;
  if (!rolling->get_object().contains("partition")) rolling->get_object()["partition"] = 0;
}

void ValidateRollout(const Check& spec) {
  const std::optional<Check> strategy = spec.Child("updateStrategy");
  const std::string_view type = strategy ? strategy->Text("type") : "";
  if (type == "OnDelete") {
    if (strategy->Has("rollingUpdate"))
      strategy->Invalid("rollingUpdate", "only allowed for updateStrategy 'RollingUpdate'");
  } else if (type == "RollingUpdate") {
    const std::optional<Check> rolling = strategy->Child("rollingUpdate");
    if (!rolling) return;
    rolling->NonNegative("partition");
    if (!rolling->Has("maxUnavailable")) return;
    ValidateCountOrPercent(*rolling, "maxUnavailable");
    if (CountOrPercent(*rolling, "maxUnavailable") == 0) rolling->Invalid("maxUnavailable", "cannot be 0");
    ValidateAtMostAll(*rolling, "maxUnavailable");
  } else {
    spec.Invalid("updateStrategy", "must be 'RollingUpdate' or 'OnDelete'");
  }
}

/// Returns `spec` with the pod template as it is in the created pods: the controller sets their names and adds a volume
/// for every claim template.
json::object AsPodsSee(const json::object& spec) {
  json::object seen(spec);
  json::value* pod = meta::Find(seen, "template", "spec");
  if (!pod || !pod->is_object()) return seen;
  meta::EraseField(pod->get_object(), "hostname");
  meta::EraseField(pod->get_object(), "subdomain");
  const auto templates = Objects(static_cast<const json::value*>(meta::FindField(spec, "volumeClaimTemplates")));
  if (templates.empty()) return seen;
  json::array volumes;
  std::set<std::string_view> names;
  for (const json::object& one : templates) {
    const std::string_view name = meta::FindString(one, "metadata", "name");
    if (!names.insert(name).second) continue;  // templates with the same name have one volume
    volumes.push_back({{"name", json::string(name)}, {"persistentVolumeClaim", {{"claimName", json::string(name)}}}});
  }
  for (const json::object& volume :
       Objects(static_cast<const json::value*>(meta::FindField(pod->get_object(), "volumes")))) {
    if (!names.contains(meta::FindString(volume, "name"))) volumes.emplace_back(volume);
  }
  pod->get_object()["volumes"] = std::move(volumes);
  return seen;
}

void ValidateClaimTemplates(const Check& spec) {
  static const json::object none;
  for (const Check& claim : spec.Each("volumeClaimTemplates")) {
    const std::optional<Check> given = claim.Child("spec");
    if (given) {
      ValidateClaimSpec(*given, false);
      continue;
    }
    meta::FieldErrors errors;
    ValidateClaimSpec(Check(none, claim.Path().Child("spec"), errors), false);
    for (meta::FieldError& error : errors) spec.Add(std::move(error));
  }
}

/// Fields that cannot change are not validated in an update, because an older server may have stored them under
/// different rules. For the same reason, an update of an object that is invalid already may have an invalid template.
enum class Rules { kCreate, kUpdate, kUpdateOfInvalid };

void ValidateSpec(const meta::Object& object, Rules rules, meta::FieldErrors& errors) {
  const Check given = SpecOf(object, errors);
  const json::object seen = AsPodsSee(given.Object());
  const Check spec(seen, given.Path(), errors);
  if (const std::string_view policy = spec.Text("podManagementPolicy");
      policy != "OrderedReady" && policy != "Parallel") {
    spec.Invalid("podManagementPolicy", "must be 'OrderedReady' or 'Parallel'");
  }
  ValidateRollout(given);
  if (const std::optional<Check> retention = spec.Child("persistentVolumeClaimRetentionPolicy")) {
    for (const char* field : {"whenDeleted", "whenScaled"}) retention->OneOf(field, {"Retain", "Delete"});
  }
  if (rules == Rules::kCreate) ValidateClaimTemplates(given);
  spec.NonNegative("replicas");
  spec.NonNegative("minReadySeconds");
  if (const std::optional<Check> ordinals = spec.Child("ordinals")) ordinals->NonNegative("start");
  if (rules == Rules::kCreate) spec.Names("serviceName", meta::CheckDnsLabel);
  if (ValidateSelector(spec, "statefulset", "")) {
    ValidateTemplateLabels(spec);
    if (rules != Rules::kUpdateOfInvalid) ValidatePodTemplate(spec);
    ValidateTemplateMetadata(spec);  // kube-apiserver reports these errors twice
  }
  ValidateRunsForever(spec, "StatefulSet");
}

class StatefulSetStrategy final : public registry::SpecStrategy {
 public:
  void Default(json::object& object) const override {
    json::object& spec = meta::MakeObject(object, "spec");
    DefaultRollout(spec);
    DefaultPodTemplate(spec);
    for (json::object& claim : Objects(meta::FindField(spec, "volumeClaimTemplates"))) {
      claim["kind"] = "PersistentVolumeClaim";
      claim["apiVersion"] = "v1";
      json::object& status = meta::MakeObject(claim, "status");
      if (!status.contains("phase")) status["phase"] = "Pending";
    }
  }

  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& object) const override {
    meta::FieldErrors errors;
    ValidateSpec(object, Rules::kCreate, errors);
    return errors;
  }

  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& object,
                                   const meta::Object& old) const override {
    meta::FieldErrors errors;
    meta::FieldErrors before_update;
    ValidateSpec(old, Rules::kUpdate, before_update);
    ValidateSpec(object, before_update.empty() ? Rules::kUpdate : Rules::kUpdateOfInvalid, errors);
    json::object now(SpecOf(object, errors).Object());
    const json::object& before = SpecOf(old, errors).Object();
    for (const char* field : {"replicas", "template", "updateStrategy", "minReadySeconds", "ordinals",
                              "revisionHistoryLimit", "persistentVolumeClaimRetentionPolicy"}) {
      meta::EraseField(now, field);
      if (const json::value* value = meta::FindField(before, field)) now[field] = *value;
    }
    if (!meta::Equal(now, before)) {
      errors.push_back(meta::Forbidden(
          "spec",
          "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', "
          "'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"));
    }
    return errors;
  }

  std::vector<std::string> Warnings(const meta::RequestContext&, const meta::Object& object,
                                    const meta::Object* old) const override {
    std::vector<std::string> warnings;
    if (!old || old->Generation() != object.Generation()) warnings = SpecTemplateWarnings(object);
    meta::FieldErrors unused;
    const Check spec = SpecOf(object, unused);
    for (const Check& claim : spec.Each("volumeClaimTemplates")) {
      const std::optional<Check> given = claim.Child("spec");
      if (!given) continue;
      // kube-apiserver omits the field in a creation, and names it in an update as in Go.
      const meta::Path path = old ? claim.Path().Child("Spec") : claim.Path();
      for (std::string& warning : ClaimSpecWarnings(given->Object(), path)) warnings.push_back(std::move(warning));
    }
    if (spec.Number("revisionHistoryLimit").value_or(0) < 0) {
      warnings.emplace_back(
          "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended");
    }
    return warnings;
  }
};

StatusRules NumbersInStatus() {
  constexpr const char* kReplicas = "cannot be greater than status.replicas";
  return {.non_negative = {"replicas", "readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas",
                           "observedGeneration", "collisionCount"},
          .at_most = {{"readyReplicas", "replicas", kReplicas},
                      {"currentReplicas", "replicas", kReplicas},
                      {"updatedReplicas", "replicas", kReplicas},
                      {"availableReplicas", "replicas", kReplicas},
                      {"availableReplicas", "readyReplicas", "cannot be greater than status.readyReplicas"}},
          .counts_collisions = true};
}

json::array Cells(const meta::Object& object, meta::Ages& ages) {
  const json::object& root = object.Root();
  const auto [names, images] = ContainerCells(meta::Find(root, "spec", "template"));
  return {json::string(object.Name()),
          fmt::format("{}/{}", NumberAt(root, "status", "readyReplicas"), NumberAt(root, "spec", "replicas")),
          AgeCell(object, ages), names, images};
}

}  // namespace

registry::Resource StatefulSetResource(const KindInputs&) {
  registry::Resource resource = FromTable("apps", "v1", "statefulsets", std::make_shared<StatefulSetStrategy>());
  resource.generation = true;
  SubresourceOf(resource, "status").strategy =
      std::make_shared<WorkloadStatusStrategy>(resource.strategy, NumbersInStatus());
  resource.validate_name = meta::NameIsDnsLabel;
  resource.table = {{NameColumn(),
                     {.name = "Ready", .description = "Pods that are ready, of those wanted."},
                     AgeColumn(),
                     WideColumn("Containers", "Names of the template's containers."),
                     WideColumn("Images", "Images of the template's containers.")},
                    &Cells,
                    {"metadata.name", "metadata.creationTimestamp", "status.readyReplicas", "spec.replicas",
                     "spec.template.spec.containers.name", "spec.template.spec.containers.image"}};
  return resource;
}

}  // namespace apimesh::core_api
