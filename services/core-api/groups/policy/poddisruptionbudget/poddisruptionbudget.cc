#include "services/core-api/groups/policy/poddisruptionbudget/poddisruptionbudget.h"

#include <fmt/format.h>

#include "lib/meta/object_meta.h"
#include "lib/registry/status_strategy.h"
#include "services/core-api/groups/columns.h"
#include "services/core-api/resources/generic.h"
#include "services/core-api/validation/conditions.h"
#include "services/core-api/validation/count_or_percent.h"
#include "services/core-api/validation/spec_fields.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

/// Returns the spec as kube-apiserver shows it, with the names and the order of its internal type.
std::string ShownSpec(const json::object& spec) {
  return fmt::format(R"({{"MinAvailable":{},"Selector":{},"MaxUnavailable":{},"UnhealthyPodEvictionPolicy":{}}})",
                     Shown(meta::FindField(spec, "minAvailable")), Shown(meta::FindField(spec, "selector")),
                     Shown(meta::FindField(spec, "maxUnavailable")),
                     Shown(meta::FindField(spec, "unhealthyPodEvictionPolicy")));
}

class BudgetStrategy final : public registry::SpecStrategy {
 public:
  bool AllowUnconditionalUpdate() const override { return false; }

  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& object) const override {
    meta::FieldErrors errors;
    const Check spec = SpecOf(object, errors);
    if (spec.Has("minAvailable") && spec.Has("maxUnavailable")) {
      errors.push_back(
          meta::Invalid("spec", ShownSpec(spec.Object()), "minAvailable and maxUnavailable cannot be both set"));
    }
    for (const char* field : {"minAvailable", "maxUnavailable"}) {
      ValidateCountOrPercent(spec, field);
      ValidateAtMostAll(spec, field);
    }
    if (const std::optional<Check> selector = spec.Child("selector"))
      errors.Append(meta::ValidateLabelSelector(selector->Object(), selector->Path()));
    const std::string_view policy = spec.Text("unhealthyPodEvictionPolicy");
    if (spec.Has("unhealthyPodEvictionPolicy") && policy != "AlwaysAllow" && policy != "IfHealthyBudget") {
      errors.push_back(meta::NotSupported("spec.unhealthyPodEvictionPolicy", meta::Quoted(policy),
                                          {"AlwaysAllow", "IfHealthyBudget"}));
    }
    return errors;
  }

  meta::FieldErrors ValidateUpdate(const meta::RequestContext& ctx, const meta::Object& object,
                                   const meta::Object&) const override {
    return Validate(ctx, object);
  }
};

class BudgetStatusStrategy final : public ConditionsStatusStrategy {
 public:
  using ConditionsStatusStrategy::ConditionsStatusStrategy;

 private:
  void ValidateOtherFields(const Check& status, const meta::Object&) const override {
    for (const char* field : {"disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"})
      status.NonNegative(field);
  }
};

json::value CountCell(const json::value* count) {
  if (!count || count->is_null()) return "N/A";
  return count->is_string() ? *count : json::value(json::string(Shown(count)));
}

json::array Cells(const meta::Object& object, meta::Ages& ages) {
  const json::object& root = object.Root();
  return {json::string(object.Name()), CountCell(meta::Find(root, "spec", "minAvailable")),
          CountCell(meta::Find(root, "spec", "maxUnavailable")), NumberAt(root, "status", "disruptionsAllowed"),
          AgeCell(object, ages)};
}

}  // namespace

registry::Resource PodDisruptionBudgetResource(const KindInputs&) {
  registry::Resource resource = FromTable("policy", "v1", "poddisruptionbudgets", std::make_shared<BudgetStrategy>());
  resource.generation = true;
  resource.validate_name = meta::NameIsPathSegment;
  SubresourceOf(resource, "status").strategy = std::make_shared<BudgetStatusStrategy>(resource.strategy);
  resource.table = {{NameColumn(),
                     {.name = "Min Available", .description = "Pods that must stay available."},
                     {.name = "Max Unavailable", .description = "Pods that may be unavailable."},
                     IntegerColumn("Allowed Disruptions", "Pods that may be evicted now."),
                     AgeColumn()},
                    &Cells,
                    {"metadata.name", "metadata.creationTimestamp", "spec.minAvailable", "spec.maxUnavailable",
                     "status.disruptionsAllowed"}};
  return resource;
}

}  // namespace apimesh::core_api
