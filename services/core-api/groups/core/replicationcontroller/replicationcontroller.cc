#include "services/core-api/groups/core/replicationcontroller/replicationcontroller.h"

#include <algorithm>

#include "lib/meta/equal.h"
#include "services/core-api/groups/apps/workload/replicas.h"
#include "services/core-api/groups/columns.h"
#include "services/core-api/groups/core/pod_spec/template.h"
#include "services/core-api/groups/core/pod_spec/warnings/warnings.h"
#include "services/core-api/resources/generic.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

bool IsEmpty(const json::value* map) { return !map || !map->is_object() || map->get_object().empty(); }

/// The selector and the labels default to the labels of the template.
void DefaultFromTemplate(json::object& controller) {
  json::object& spec = meta::MakeObject(controller, "spec");
  const json::value* labels = meta::Find(spec, "template", "metadata", "labels");
  if (IsEmpty(labels)) return;
  const json::value from = *labels;  // the assignments below may move the labels
  if (IsEmpty(meta::FindField(spec, "selector"))) spec["selector"] = from;
  json::object& metadata = meta::MakeObject(controller, "metadata");
  if (IsEmpty(meta::FindField(metadata, "labels"))) metadata["labels"] = from;
}

/// Checks that the selector, which is a map of labels here, matches the labels of the template. The labels of the
/// selector are not validated.
void ValidateLabelsOfTemplate(const Check& spec) {
  const json::value* labels = meta::Find(spec.Object(), "template", "metadata", "labels");
  static const json::object none;
  const json::object& found = labels && labels->is_object() ? labels->get_object() : none;
  const json::object& selector = meta::FindField(spec.Object(), "selector")->get_object();
  const bool matches = std::all_of(selector.begin(), selector.end(), [&found](const json::key_value_pair& wanted) {
    return meta::Equal(&wanted.value(), meta::FindField(found, wanted.key()));
  });
  if (matches) return;
  spec.Add(meta::Invalid(spec.Path().Child("template").Child("metadata").Child("labels").ToString(), Shown(labels),
                         "`selector` does not match template `labels`"));
}

class ReplicationControllerStrategy final : public registry::SpecStrategy {
 public:
  void Default(json::object& object) const override {
    DefaultFromTemplate(object);
    DefaultPodTemplate(meta::MakeObject(object, "spec"));
  }

  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& object) const override {
    meta::FieldErrors errors;
    const Check spec = SpecOf(object, errors);
    const bool selects = !IsEmpty(meta::FindField(spec.Object(), "selector"));
    spec.NonNegative("minReadySeconds");
    if (!selects) errors.push_back(meta::Required("spec.selector", ""));
    spec.NonNegative("replicas");
    if (!spec.Has("template")) {
      errors.push_back(meta::Required("spec.template", ""));
      return errors;
    }
    if (selects) ValidateLabelsOfTemplate(spec);
    ValidatePodTemplate(spec);
    ValidateRunsForever(spec, "ReplicationController");
    return errors;
  }

  meta::FieldErrors ValidateUpdate(const meta::RequestContext& ctx, const meta::Object& object,
                                   const meta::Object&) const override {
    return Validate(ctx, object);
  }

  std::vector<std::string> Warnings(const meta::RequestContext&, const meta::Object& object,
                                    const meta::Object* old) const override {
    std::vector<std::string> warnings;
    if (!old) warnings = PodNameWarnings(object.Name());
    if (old && old->Generation() == object.Generation()) return warnings;
    // kube-apiserver reports the old template in an update.
    for (std::string& warning : SpecTemplateWarnings(old ? *old : object)) warnings.push_back(std::move(warning));
    return warnings;
  }

  /// Clients of v1 rely on this default.
  bool OrphansByDefault() const override { return true; }
};

}  // namespace

registry::Resource ReplicationControllerResource(const KindInputs&) {
  registry::Resource resource =
      FromTable("", "v1", "replicationcontrollers", std::make_shared<ReplicationControllerStrategy>());
  resource.generation = true;
  SubresourceOf(resource, "status").strategy =
      std::make_shared<WorkloadStatusStrategy>(resource.strategy, ReplicaStatusRules());
  resource.selectable_fields = {"status.replicas"};
  resource.table = ReplicaTable(&LabelsText);
  return resource;
}

}  // namespace apimesh::core_api
