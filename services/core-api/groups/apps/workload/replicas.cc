#include "services/core-api/groups/apps/workload/replicas.h"

#include "services/core-api/groups/columns.h"
#include "services/core-api/groups/core/pod_spec/template.h"
#include "services/core-api/groups/core/pod_spec/warnings/warnings.h"

namespace apimesh::core_api {

void ValidateReplicaTemplate(const Check& spec) {
  ValidateTemplateLabels(spec);
  ValidatePodTemplate(spec);
  ValidateRunsForever(spec, "ReplicaSet");
}

meta::FieldErrors ReplicaStrategy::ValidateUpdate(const meta::RequestContext& ctx, const meta::Object& object,
                                                  const meta::Object& old) const {
  meta::FieldErrors errors = Validate(ctx, object);
  ValidateImmutable("selector", SpecOf(object, errors), old);
  return errors;
}

std::vector<std::string> ReplicaStrategy::Warnings(const meta::RequestContext&, const meta::Object& object,
                                                   const meta::Object* old) const {
  std::vector<std::string> warnings;
  if (!old) warnings = PodNameWarnings(object.Name());
  if (old && old->Generation() == object.Generation()) return warnings;
  for (std::string& warning : SpecTemplateWarnings(object)) warnings.push_back(std::move(warning));
  return warnings;
}

StatusRules ReplicaStatusRules() {
  constexpr const char* kReplicas = "cannot be greater than status.replicas";
  return {
      .non_negative = {"replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "observedGeneration"},
      .at_most = {{"fullyLabeledReplicas", "replicas", kReplicas},
                  {"readyReplicas", "replicas", kReplicas},
                  {"availableReplicas", "replicas", kReplicas},
                  {"availableReplicas", "readyReplicas", "cannot be greater than readyReplicas"}}};
}

registry::TablePrinter ReplicaTable(std::string (*selector_text)(const meta::json::value* selector)) {
  const auto cells = [selector_text](const meta::Object& object, meta::Ages& ages) -> meta::json::array {
    const meta::json::object& root = object.Root();
    const auto [names, images] = ContainerCells(meta::Find(root, "spec", "template"));
    return {meta::json::string(object.Name()),
            NumberAt(root, "spec", "replicas"),
            NumberAt(root, "status", "replicas"),
            NumberAt(root, "status", "readyReplicas"),
            AgeCell(object, ages),
            names,
            images,
            selector_text(meta::Find(root, "spec", "selector"))};
  };
  return {{NameColumn(), IntegerColumn("Desired", "Pods that are wanted."),
           IntegerColumn("Current", "Pods that are there."), IntegerColumn("Ready", "Pods that are ready."),
           AgeColumn(), WideColumn("Containers", "Names of the template's containers."),
           WideColumn("Images", "Images of the template's containers."),
           WideColumn("Selector", "Which pods belong to it.")},
          cells,
          {"metadata.name", "metadata.creationTimestamp", "status.replicas", "status.readyReplicas", "spec.replicas",
           "spec.template.spec.containers.name", "spec.template.spec.containers.image", "spec.selector"}};
}

}  // namespace apimesh::core_api
