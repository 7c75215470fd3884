#include "services/core-api/groups/autoscaling/horizontalpodautoscaler/horizontalpodautoscaler.h"

#include <fmt/format.h>

#include "lib/registry/status_strategy.h"
#include "services/core-api/groups/autoscaling/horizontalpodautoscaler/conversion.h"
#include "services/core-api/groups/autoscaling/horizontalpodautoscaler/validation.h"
#include "services/core-api/groups/columns.h"
#include "services/core-api/resources/generic.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

constexpr std::int64_t kPeriodSeconds = 15, kAllPercent = 100, kFourPods = 4;

json::object Policy(const char* type, std::int64_t value) {
  return {{"type", type}, {"value", value}, {"periodSeconds", kPeriodSeconds}};
}

/// If spec.behavior is given, the fields that it omits get defaults.
void DefaultRules(json::object& behavior, const char* direction, json::array policies) {
  json::object& rules = meta::MakeObject(behavior, direction);
  rules.emplace("selectPolicy", "Max");
  rules.emplace("policies", std::move(policies));
}

void DefaultV2(json::object& document) {
  DropRoundTripAnnotations(document);
  json::object& spec = meta::MakeObject(document, "spec");
  const json::value* metrics = spec.if_contains("metrics");
  if (!metrics || !metrics->is_array() || metrics->get_array().empty()) spec["metrics"] = DefaultMetrics();
  json::value* behavior = spec.if_contains("behavior");
  if (!behavior || !behavior->is_object()) return;
  DefaultRules(behavior->get_object(), "scaleUp", {Policy("Pods", kFourPods), Policy("Percent", kAllPercent)});
  DefaultRules(behavior->get_object(), "scaleDown", {Policy("Percent", kAllPercent)});
  // The window for scaling down has no default here, because a flag of the controller sets it.
  meta::MakeObject(behavior->get_object(), "scaleUp").emplace("stabilizationWindowSeconds", 0);
}

class V2Strategy final : public registry::SpecStrategy {
 public:
  void Default(json::object& document) const override { DefaultV2(document); }
  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& object) const override {
    return ValidateHpa(object, nullptr);
  }
  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& object,
                                   const meta::Object& old) const override {
    return ValidateHpa(object, &old);
  }
};

/// An update of /status does not change the spec.
class V2StatusStrategy final : public registry::Strategy {
 public:
  void Default(json::object& document) const override { DefaultV2(document); }
  void PrepareForUpdate(const meta::RequestContext&, meta::Object& object, const meta::Object& old) const override {
    if (const json::value* spec = meta::FindField(old.Root(), "spec")) object.Root()["spec"] = *spec;
  }
  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& object,
                                   const meta::Object&) const override {
    return ValidateHpaStatus(object);
  }
};

meta::Object AsV2(const meta::Object& object) {
  meta::Object converted = object;
  HpaToV2(converted.Root());
  return converted;
}

/// Applies the strategy `V2` to an object of v1 by conversion, because parts of the spec and status of v1 are in
/// annotations.
template <class V2>
class V1Strategy final : public registry::Strategy {
 public:
  /// The conversion to v2 and back removes invalid annotations and adds the default metric.
  void Default(json::object& document) const override {
    HpaToV2(document);
    HpaToV1(document);
  }
  void PrepareForCreate(const meta::RequestContext& ctx, meta::Object& object) const override {
    HpaToV2(object.Root());
    v2_.PrepareForCreate(ctx, object);
    BackToV1(object);
  }
  void PrepareForUpdate(const meta::RequestContext& ctx, meta::Object& object, const meta::Object& old) const override {
    HpaToV2(object.Root());
    v2_.PrepareForUpdate(ctx, object, AsV2(old));
    BackToV1(object);
  }
  meta::FieldErrors Validate(const meta::RequestContext& ctx, const meta::Object& object) const override {
    return v2_.Validate(ctx, AsV2(object));
  }
  meta::FieldErrors ValidateUpdate(const meta::RequestContext& ctx, const meta::Object& object,
                                   const meta::Object& old) const override {
    return v2_.ValidateUpdate(ctx, AsV2(object), AsV2(old));
  }

 private:
  /// Converts the object back to v1, with the defaults that it has when it is stored.
  static void BackToV1(meta::Object& object) {
    DefaultV2(object.Root());
    HpaToV1(object.Root());
  }
  V2 v2_;
};

json::array Cells(const meta::Object& object, meta::Ages& ages) {
  const json::object& root = object.Root();
  const json::value* min = meta::Find(root, "spec", "minReplicas");
  return {json::string(object.Name()),
          json::string(fmt::format("{}/{}", meta::FindString(root, "spec", "scaleTargetRef", "kind"),
                                   meta::FindString(root, "spec", "scaleTargetRef", "name"))),
          json::string(TargetsText(root)),
          json::string(min && min->is_int64() ? fmt::format("{}", min->get_int64()) : "<unset>"),
          NumberAt(root, "spec", "maxReplicas"),
          NumberAt(root, "status", "currentReplicas"),
          AgeCell(object, ages)};
}

json::array V1Cells(const meta::Object& object, meta::Ages& ages) { return Cells(AsV2(object), ages); }

registry::Resource Make(const char* version, registry::StrategyPtr strategy, registry::StrategyPtr status) {
  registry::Resource resource = FromTable("autoscaling", version, "horizontalpodautoscalers", std::move(strategy));
  SubresourceOf(resource, "status").strategy = std::move(status);
  resource.convert = &ConvertHpa;
  // The metrics of v1 are in annotations.
  resource.table = {{NameColumn(),
                     {.name = "Reference", .description = "The object whose replicas are set."},
                     {.name = "Targets", .description = "The current and the wanted value of each metric."},
                     {.name = "MinPods", .description = "The lowest number of pods."},
                     {.name = "MaxPods", .description = "The highest number of pods."},
                     {.name = "Replicas", .description = "The current number of pods."},
                     AgeColumn()},
                    version == std::string_view("v1") ? &V1Cells : &Cells,
                    {"metadata.name", "metadata.creationTimestamp", "metadata.annotations", "spec", "status"}};
  return resource;
}

}  // namespace

registry::Resource HorizontalPodAutoscalerV1Resource(const KindInputs&) {
  registry::Resource resource =
      Make("v1", std::make_shared<V1Strategy<V2Strategy>>(), std::make_shared<V1Strategy<V2StatusStrategy>>());
  resource.from_stored = [](json::object& document) {
    DefaultV2(document);
    HpaToV1(document);
  };
  resource.to_stored = &HpaToV2;
  resource.field_annotations = RoundTripAnnotations();
  return resource;
}

registry::Resource HorizontalPodAutoscalerV2Resource(const KindInputs&) {
  return Make("v2", std::make_shared<V2Strategy>(), std::make_shared<V2StatusStrategy>());
}

}  // namespace apimesh::core_api
