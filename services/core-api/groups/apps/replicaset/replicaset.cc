#include "services/core-api/groups/apps/replicaset/replicaset.h"

#include "services/core-api/groups/apps/workload/workload.h"
#include "services/core-api/groups/columns.h"
#include "services/core-api/groups/core/pod_spec/template.h"
#include "services/core-api/resources/generic.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

class ReplicaSetStrategy final : public registry::SpecStrategy {
 public:
  void Default(json::object& object) const override { DefaultPodTemplate(meta::MakeObject(object, "spec")); }

  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& object) const override {
    meta::FieldErrors errors;
    const Check spec = SpecOf(object, errors);
    spec.NonNegative("replicas");
    spec.NonNegative("minReadySeconds");
    ValidateSelector(spec, "deployment");  // the reference's word
    ValidateTemplateLabels(spec);
    ValidatePodTemplate(spec);
    ValidateRunsForEver(spec, "ReplicaSet");
    return errors;
  }

  meta::FieldErrors ValidateUpdate(const meta::RequestContext& ctx, const meta::Object& object, const meta::Object& old) const override {
    meta::FieldErrors errors = Validate(ctx, object);
    ValidateImmutable("selector", SpecOf(object, errors), old);
    return errors;
  }
};

StatusRules Rules() {
  constexpr const char* kReplicas = "cannot be greater than status.replicas";
  return {.non_negative = {"replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "observedGeneration", "terminatingReplicas"},
          .at_most = {{"fullyLabeledReplicas", "replicas", kReplicas},
                      {"readyReplicas", "replicas", kReplicas},
                      {"availableReplicas", "replicas", kReplicas},
                      {"availableReplicas", "readyReplicas", "cannot be greater than readyReplicas"}}};
}

json::array Cells(const meta::Object& object, meta::Ages& ages) {
  const json::object& root = object.Root();
  const auto [names, images] = ContainerCells(meta::Find(root, "spec", "template"));
  return {json::string(object.Name()),
          NumberAt(root, "spec", "replicas"),
          NumberAt(root, "status", "replicas"),
          NumberAt(root, "status", "readyReplicas"),
          AgeCell(object, ages),
          names,
          images,
          SelectorText(meta::Find(root, "spec", "selector"))};
}

}  // namespace

registry::Resource ReplicaSetResource() {
  registry::Resource resource = FromTable("apps", "v1", "replicasets", std::make_shared<ReplicaSetStrategy>());
  SubresourceOf(resource, "status").strategy = std::make_shared<WorkloadStatusStrategy>(resource.strategy, Rules());
  resource.selectable_fields = {"status.replicas"};
  resource.table = {{NameColumn(),
                     IntegerColumn("Desired", "Pods that are wanted."),
                     IntegerColumn("Current", "Pods that are there."),
                     IntegerColumn("Ready", "Pods that are ready."),
                     AgeColumn(),
                     WideColumn("Containers", "Names of the template's containers."),
                     WideColumn("Images", "Images of the template's containers."),
                     WideColumn("Selector", "Which pods belong to it.")},
                    &Cells,
                    {"metadata.name", "metadata.creationTimestamp", "status.replicas", "status.readyReplicas", "spec.replicas", "spec.template.spec.containers.name", "spec.template.spec.containers.image", "spec.selector"}};
  return resource;
}

}  // namespace apimesh::core_api
