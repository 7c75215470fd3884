#include "services/core-api/groups/autoscaling/horizontalpodautoscaler/horizontalpodautoscaler.h"

#include "lib/registry/status_strategy.h"
#include "services/core-api/groups/autoscaling/horizontalpodautoscaler/conversion.h"
#include "services/core-api/resources/generic.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

constexpr std::int64_t kPeriodSeconds = 15, kAllPercent = 100, kFourPods = 4;

json::object Policy(const char* type, std::int64_t value) {
  return {{"type", type}, {"value", value}, {"periodSeconds", kPeriodSeconds}};
}

/// A behavior that says anything says everything.
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
  // Scaling down has a window too, but a flag of the controller says which.
  meta::MakeObject(behavior->get_object(), "scaleUp").emplace("stabilizationWindowSeconds", 0);
}

class V2Strategy final : public registry::SpecStrategy {
 public:
  void Default(json::object& document) const override { DefaultV2(document); }
};

/// Unlike most, this kind lets controllers write labels and annotations along with the status.
class V2StatusStrategy final : public registry::Strategy {
 public:
  void Default(json::object& document) const override { DefaultV2(document); }
  void PrepareForUpdate(const meta::RequestContext&, meta::Object& object, const meta::Object& old) const override {
    if (const json::value* spec = meta::FindField(old.Root(), "spec")) object.Root()["spec"] = *spec;
  }
};

/// Does to an object of v1 what `V2` does to the same object of v2: part of v1's status and spec is in its annotations.
template <class V2>
class V1Strategy final : public registry::Strategy {
 public:
  /// There and back again: what means nothing goes, what is implied is there.
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
    meta::Object old_v2 = old;
    HpaToV2(old_v2.Root());
    HpaToV2(object.Root());
    v2_.PrepareForUpdate(ctx, object, old_v2);
    BackToV1(object);
  }

 private:
  /// With the defaults that the object gets in the store.
  static void BackToV1(meta::Object& object) {
    DefaultV2(object.Root());
    HpaToV1(object.Root());
  }
  V2 v2_;
};

registry::Resource Make(const char* version, registry::StrategyPtr strategy, registry::StrategyPtr status) {
  registry::Resource resource = FromTable("autoscaling", version, "horizontalpodautoscalers", std::move(strategy));
  SubresourceOf(resource, "status").strategy = std::move(status);
  resource.convert = &ConvertHpa;
  return resource;
}

}  // namespace

registry::Resource HorizontalPodAutoscalerV1Resource() {
  registry::Resource resource = Make("v1", std::make_shared<V1Strategy<V2Strategy>>(), std::make_shared<V1Strategy<V2StatusStrategy>>());
  resource.from_stored = [](json::object& document) {
    DefaultV2(document);
    HpaToV1(document);
  };
  resource.to_stored = &HpaToV2;
  return resource;
}

registry::Resource HorizontalPodAutoscalerV2Resource() {
  return Make("v2", std::make_shared<V2Strategy>(), std::make_shared<V2StatusStrategy>());
}

}  // namespace apimesh::core_api
