#include "services/core-api/groups/scheduling/podgroup/podgroup.h"

#include <algorithm>
#include <set>

#include "lib/registry/status_strategy.h"
#include "services/core-api/groups/columns.h"
#include "services/core-api/groups/scheduling/pod_group_rules.h"
#include "services/core-api/resources/generic.h"
#include "services/core-api/validation/conditions.h"
#include "services/core-api/validation/spec_fields.h"
#include "services/core-api/validation/texts.h"
#include "services/core-api/validation/walk.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

constexpr std::size_t kMaxClaimStatuses = 4;
constexpr const char* kImmutable[] = {
    "podGroupTemplateRef", "schedulingPolicy", "schedulingConstraints", "resourceClaims", "disruptionMode",
    "priorityClassName",   "priority"};

const json::object* SpecObject(const meta::Object& object) {
  const json::value* spec = meta::FindField(object.Root(), "spec");
  return spec && spec->is_object() ? &spec->get_object() : nullptr;
}

class PodGroupStrategy final : public registry::SpecStrategy {
 public:
  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& object) const override {
    meta::FieldErrors errors;
    const Check spec = SpecOf(object, errors);
    if (const std::optional<Check> reference = spec.Child("podGroupTemplateRef")) {
      const std::optional<Check> workload = reference->Child("workload");
      if (!workload) {
        reference->Add(meta::Invalid(reference->Path().ToString(), "\"\"", "must specify one of: `workload`"));
      } else {
        workload->RequireName("workloadName", meta::CheckDnsSubdomain);
        workload->RequireName("podGroupTemplateName", meta::CheckDnsLabel);
      }
    }
    ValidatePodGroupFields(spec);
    return errors;
  }
  /// The spec never changes, so that its values are not validated again.
  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& object,
                                   const meta::Object& old) const override {
    meta::FieldErrors errors;
    const Check spec = SpecOf(object, errors);
    for (const char* field : kImmutable) ValidateUnchanged(spec, field, SpecObject(old));
    return errors;
  }
};

class PodGroupStatusStrategy final : public ConditionsStatusStrategy {
 public:
  using ConditionsStatusStrategy::ConditionsStatusStrategy;

 private:
  void ValidateOtherFields(const Check& status, const meta::Object& object) const override {
    const auto claims = Objects(meta::Find(object.Root(), "spec", "resourceClaims"));
    for (const Check& one : status.Each("resourceClaimStatuses")) {
      const std::string_view name = one.Text("name");
      const bool known = std::any_of(claims.begin(), claims.end(), [name](const json::object& claim) {
        return meta::FindString(claim, "name") == name;
      });
      if (!known) one.Invalid("name", "must match the name of an entry in `spec.resourceClaims`");
    }
    if (const std::size_t count = SizeOf(status, "resourceClaimStatuses"); count > kMaxClaimStatuses) {
      status.Add(meta::TooMany("status.resourceClaimStatuses", count, kMaxClaimStatuses));
      return;
    }
    for (const Check& one : status.Each("resourceClaimStatuses"))
      one.Names("resourceClaimName", meta::CheckDnsSubdomain);
  }
};

std::string GroupState(const json::object& root) {
  std::string state = "Pending";
  const auto conditions = Objects(meta::Find(root, "status", "conditions"));
  for (const json::object& condition : conditions) {
    if (meta::FindString(condition, "type") != "PodGroupScheduled") continue;
    state = meta::FindString(condition, "status") == "True" ? "Scheduled" : "Unschedulable";
  }
  for (const json::object& condition : conditions) {
    if (meta::FindString(condition, "type") == "DisruptionTarget") state = meta::FindString(condition, "reason");
  }
  return state;
}

json::array PodGroupCells(const meta::Object& object, meta::Ages& ages) {
  const json::object& root = object.Root();
  const bool gang = meta::Find(root, "spec", "schedulingPolicy", "gang") != nullptr;
  const json::value* reference = meta::Find(root, "spec", "podGroupTemplateRef");
  const bool referenced = reference && reference->is_object();
  const std::string_view workload = meta::FindString(root, "spec", "podGroupTemplateRef", "workload", "workloadName");
  return {json::string(object.Name()), gang ? "Gang" : "Basic", referenced ? TextCell(workload) : json::value("<none>"),
          json::string(GroupState(root)), AgeCell(object, ages)};
}

json::array WorkloadCells(const meta::Object& object, meta::Ages& ages) {
  return {json::string(object.Name()), AgeCell(object, ages)};
}

class WorkloadStrategy final : public registry::Strategy {
 public:
  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& object) const override {
    meta::FieldErrors errors;
    const Check spec = SpecOf(object, errors);
    if (const std::optional<Check> controller = spec.Child("controllerRef")) {
      controller->Names("apiGroup", meta::CheckDnsSubdomain);
      for (const char* field : {"kind", "name"}) {
        controller->RequireName(field, [](std::string_view text) { return meta::CheckPathSegment(text); });
      }
    }
    ValidateTemplates(spec);
    return errors;
  }
  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& object,
                                   const meta::Object& old) const override {
    meta::FieldErrors errors;
    const Check spec = SpecOf(object, errors);
    for (const char* field : {"controllerRef", "podGroupTemplates"}) ValidateUnchanged(spec, field, SpecObject(old));
    return errors;
  }

 private:
  static void ValidateTemplates(const Check& spec) {
    constexpr std::size_t kMaxTemplates = 8;
    const std::string path = spec.Path().Child("podGroupTemplates").ToString();
    const std::size_t count = SizeOf(spec, "podGroupTemplates");
    if (count == 0) spec.Add(meta::Required(path, ""));
    if (count > kMaxTemplates) {
      spec.Add(meta::TooMany(path, count, kMaxTemplates));
      return;
    }
    std::set<std::string_view> names;
    for (const Check& one : spec.Each("podGroupTemplates")) {
      if (!names.insert(one.Text("name")).second) {
        const json::value shown(one.Object());
        one.Add(meta::Duplicate(one.Path().ToString(), Shown(&shown)));
      }
    }
    for (const Check& one : spec.Each("podGroupTemplates")) {
      one.RequireName("name", meta::CheckDnsLabel);
      ValidatePodGroupFields(one);
    }
  }
};

}  // namespace

registry::Resource PodGroupResource(const KindInputs&) {
  registry::Resource resource =
      FromTable("scheduling.k8s.io", "v1alpha2", "podgroups", std::make_shared<PodGroupStrategy>());
  registry::Subresource& status = SubresourceOf(resource, "status");
  status.strategy = std::make_shared<PodGroupStatusStrategy>(resource.strategy, registry::AllMetadata());
  status.reset_fields = registry::StatusResetFields(registry::AllMetadata());
  resource.table = {{NameColumn(),
                     {.name = "Policy", .description = "How the pods are scheduled."},
                     {.name = "Workload", .description = "The Workload of the group."},
                     {.name = "Status", .description = "The state of the group."},
                     AgeColumn()},
                    &PodGroupCells,
                    {"metadata.name", "metadata.creationTimestamp", "spec", "status.conditions"}};
  return resource;
}

registry::Resource WorkloadResource(const KindInputs&) {
  registry::Resource resource =
      FromTable("scheduling.k8s.io", "v1alpha2", "workloads", std::make_shared<WorkloadStrategy>());
  resource.table = {{NameColumn(), AgeColumn()}, &WorkloadCells, {"metadata.name", "metadata.creationTimestamp"}};
  return resource;
}

}  // namespace apimesh::core_api
