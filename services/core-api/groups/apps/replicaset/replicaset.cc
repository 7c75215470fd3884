#include "services/core-api/groups/apps/replicaset/replicaset.h"

#include "services/core-api/groups/apps/workload/replicas.h"
#include "services/core-api/groups/columns.h"
#include "services/core-api/groups/core/pod_spec/template.h"
#include "services/core-api/resources/generic.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

class ReplicaSetStrategy final : public ReplicaStrategy {
 public:
  void Default(json::object& object) const override { DefaultPodTemplate(meta::MakeObject(object, "spec")); }

  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& object) const override {
    meta::FieldErrors errors;
    const Check spec = SpecOf(object, errors);
    spec.NonNegative("replicas");
    spec.NonNegative("minReadySeconds");
    // kube-apiserver names "deployment" in this message.
    if (ValidateSelector(spec, "deployment")) ValidateReplicaTemplate(spec);
    return errors;
  }
};

StatusRules Rules() {
  StatusRules rules = ReplicaStatusRules();
  rules.non_negative.push_back("terminatingReplicas");
  return rules;
}

}  // namespace

registry::Resource ReplicaSetResource(const KindInputs&) {
  registry::Resource resource = FromTable("apps", "v1", "replicasets", std::make_shared<ReplicaSetStrategy>());
  resource.generation = true;
  SubresourceOf(resource, "status").strategy = std::make_shared<WorkloadStatusStrategy>(resource.strategy, Rules());
  resource.selectable_fields = {"status.replicas"};
  resource.table = ReplicaTable(&SelectorText);
  return resource;
}

}  // namespace apimesh::core_api
