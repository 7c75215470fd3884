#include "services/core-api/groups/apps/deployment/deployment.h"

#include <fmt/format.h>

#include "lib/meta/equal.h"
#include "services/core-api/groups/apps/workload/replicas.h"
#include "services/core-api/groups/columns.h"
#include "services/core-api/groups/core/pod_spec/template.h"
#include "services/core-api/resources/generic.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

constexpr const char* kQuarter = "25%";  // default of maxUnavailable and maxSurge

void DefaultRollout(json::object& spec) {
  json::object& strategy = meta::MakeObject(spec, "strategy");
  if (meta::FindString(strategy, "type").empty()) strategy["type"] = "RollingUpdate";
  if (meta::FindString(strategy, "type") != "RollingUpdate") return;
  json::object& rolling = meta::MakeObject(strategy, "rollingUpdate");
  for (const char* field : {"maxUnavailable", "maxSurge"}) {
    if (!rolling.contains(field)) rolling[field] = kQuarter;
  }
}

void ValidateRollout(const Check& spec) {
  const std::optional<Check> strategy = spec.Child("strategy");
  if (!strategy) return;
  const std::string_view type = strategy->Text("type");
  if (type == "Recreate") {
    strategy->Forbid("rollingUpdate", "may not be specified when strategy `type` is 'Recreate'");
  } else if (type == "RollingUpdate") {
    const std::optional<Check> rolling = strategy->Child("rollingUpdate");
    if (!rolling) return;
    ValidateCountOrPercent(*rolling, "maxUnavailable");
    ValidateCountOrPercent(*rolling, "maxSurge");
    if (CountOrPercent(*rolling, "maxUnavailable") == 0 && CountOrPercent(*rolling, "maxSurge") == 0) {
      rolling->Invalid("maxUnavailable", "may not be 0 when `maxSurge` is 0");
    }
    ValidateAtMostAll(*rolling, "maxUnavailable");
  } else {
    spec.Add(meta::NotSupported(strategy->Path().ToString(), Shown(meta::FindField(spec.Object(), "strategy")),
                                {"Recreate", "RollingUpdate"}));
  }
}

class DeploymentStrategy final : public ReplicaStrategy {
 public:
  void Default(json::object& object) const override {
    json::object& spec = meta::MakeObject(object, "spec");
    DefaultRollout(spec);
    DefaultPodTemplate(spec);
  }

  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& object) const override {
    meta::FieldErrors errors;
    const Check spec = SpecOf(object, errors);
    spec.NonNegative("replicas");
    if (ValidateSelector(spec, "deployment")) ValidateReplicaTemplate(spec);
    ValidateRollout(spec);
    spec.NonNegative("minReadySeconds");
    spec.NonNegative("revisionHistoryLimit");
    spec.NonNegative("progressDeadlineSeconds");
    if (const auto deadline = spec.Number("progressDeadlineSeconds");
        deadline && *deadline <= spec.Number("minReadySeconds").value_or(0)) {
      spec.Invalid("progressDeadlineSeconds", "must be greater than minReadySeconds");
    }
    return errors;
  }

  /// A change of annotations also increments the generation, because annotations are copied to the ReplicaSets.
  void PrepareForUpdate(const meta::RequestContext& ctx, meta::Object& object, const meta::Object& old) const override {
    SpecStrategy::PrepareForUpdate(ctx, object, old);
    const json::value* now = meta::FindField(object.Metadata(), "annotations");
    const json::value* before = meta::FindField(old.Metadata(), "annotations");
    if (!meta::Equal(now, before)) object.SetMeta("generation", old.Generation() + 1);
  }
};

StatusRules Rules() {
  constexpr const char* kReplicas = "cannot be greater than status.replicas";
  return {.non_negative = {"observedGeneration", "replicas", "updatedReplicas", "readyReplicas", "availableReplicas",
                           "unavailableReplicas", "terminatingReplicas", "collisionCount"},
          .at_most = {{"updatedReplicas", "replicas", kReplicas},
                      {"readyReplicas", "replicas", kReplicas},
                      {"availableReplicas", "replicas", kReplicas},
                      {"availableReplicas", "readyReplicas", "cannot be greater than readyReplicas"}},
          .counts_collisions = true};
}

json::array Cells(const meta::Object& object, meta::Ages& ages) {
  const json::object& root = object.Root();
  const auto [names, images] = ContainerCells(meta::Find(root, "spec", "template"));
  return {json::string(object.Name()),
          fmt::format("{}/{}", NumberAt(root, "status", "readyReplicas"), NumberAt(root, "spec", "replicas")),
          NumberAt(root, "status", "updatedReplicas"),
          NumberAt(root, "status", "availableReplicas"),
          AgeCell(object, ages),
          names,
          images,
          SelectorText(meta::Find(root, "spec", "selector"))};
}

}  // namespace

registry::Resource DeploymentResource(const KindInputs&) {
  registry::Resource resource = FromTable("apps", "v1", "deployments", std::make_shared<DeploymentStrategy>());
  resource.generation = true;
  const registry::KeptMetadata kept = {"labels"};
  registry::Subresource& status = SubresourceOf(resource, "status");
  status.strategy = std::make_shared<WorkloadStatusStrategy>(resource.strategy, Rules(), kept);
  status.reset_fields = registry::StatusResetFields(kept);
  resource.table = {{NameColumn(),
                     {.name = "Ready", .description = "Pods that are ready, of those wanted."},
                     {.name = "Up-to-date", .description = "Pods of the present template."},
                     {.name = "Available", .description = "Pods that have been ready for long enough."},
                     AgeColumn(),
                     WideColumn("Containers", "Names of the template's containers."),
                     WideColumn("Images", "Images of the template's containers."),
                     WideColumn("Selector", "Which pods belong to it.")},
                    &Cells,
                    {"metadata.name", "metadata.creationTimestamp", "status.readyReplicas", "status.updatedReplicas",
                     "status.availableReplicas", "spec.replicas", "spec.template.spec.containers.name",
                     "spec.template.spec.containers.image", "spec.selector"}};
  return resource;
}

}  // namespace apimesh::core_api
