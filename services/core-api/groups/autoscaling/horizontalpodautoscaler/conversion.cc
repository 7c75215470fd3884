#include "services/core-api/groups/autoscaling/horizontalpodautoscaler/conversion.h"

#include "lib/codec/codec.h"
#include "lib/schema/builtin.h"
#include "services/core-api/groups/autoscaling/horizontalpodautoscaler/metrics.h"
#include "services/core-api/validation/walk.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

constexpr int kDefaultUtilization = 80;

constexpr const char* kMetrics = "autoscaling.alpha.kubernetes.io/metrics";
constexpr const char* kBehavior = "autoscaling.alpha.kubernetes.io/behavior";
constexpr const char* kCurrentMetrics = "autoscaling.alpha.kubernetes.io/current-metrics";
constexpr const char* kConditions = "autoscaling.alpha.kubernetes.io/conditions";
// The tolerance annotations are removed, but never written: the behavior contains the tolerances.
constexpr const char* kRoundTrip[] = {kMetrics,
                                      kBehavior,
                                      kCurrentMetrics,
                                      kConditions,
                                      "autoscaling.alpha.kubernetes.io/scale-down-tolerance",
                                      "autoscaling.alpha.kubernetes.io/scale-up-tolerance"};

/// Returns the number in `{type: Resource, resource: {name: cpu, <group>: {averageUtilization: N}}}`, or nullptr for
/// any other metric.
const json::value* CpuUtilization(const json::object& metric, std::string_view group) {
  if (meta::FindString(metric, "type") != "Resource" || meta::FindString(metric, "resource", "name") != "cpu")
    return nullptr;
  const json::value* number = meta::Find(metric, "resource", group, "averageUtilization");
  return number && number->is_number() ? number : nullptr;
}

json::object CpuMetric(std::string_view group, json::object value) {
  json::object resource{{"name", "cpu"}};
  resource[group] = std::move(value);
  return {{"type", "Resource"}, {"resource", std::move(resource)}};
}

json::object WantedCpu(json::value percent) {
  return CpuMetric("target", {{"type", "Utilization"}, {"averageUtilization", std::move(percent)}});
}

std::optional<json::value> Annotation(const json::object& document, std::string_view name) {
  const json::value* text = meta::Find(document, "metadata", "annotations", name);
  if (!text || !text->is_string()) return std::nullopt;
  meta::Result<json::value> parsed = codec::ParseJson(text->get_string(), {});
  if (!parsed) return std::nullopt;
  return std::move(*parsed);
}

/// Returns the list in an annotation, with each element converted by `convert`; nullopt if it is missing or invalid.
template <class Convert>
std::optional<json::array> List(const json::object& document, std::string_view name, const Convert& convert) {
  const std::optional<json::value> list = Annotation(document, name);
  if (!list || (!list->is_array() && !list->is_null())) return std::nullopt;
  json::array made;
  if (list->is_null()) return made;
  for (const json::value& one : list->get_array()) {
    std::optional<json::object> converted = convert(one);
    if (!converted) return std::nullopt;
    made.push_back(std::move(*converted));
  }
  return made;
}

void Annotate(json::object& document, const char* name, const json::value& value) {
  meta::MakeObject(meta::MakeObject(document, "metadata"), "annotations")[name] = codec::WriteJson(value);
}

/// Removes a field from its object and returns it; returns null if it is missing.
json::value Take(json::object* object, std::string_view name) {
  json::value* value = object ? meta::FindField(*object, name) : nullptr;
  if (!value) return nullptr;
  json::value taken = *value;
  meta::EraseField(*object, name);
  return taken;
}

json::object* Part(json::object& document, std::string_view name) {
  json::value* part = meta::FindField(document, name);
  return part && part->is_object() ? &part->get_object() : nullptr;
}

void SpecToV1(json::object& document) {
  json::object* spec = Part(document, "spec");
  json::value metrics = Take(spec, "metrics");
  json::array others;
  bool first = true;
  for (const json::object& metric : Objects(&metrics)) {
    const json::value* percent = CpuUtilization(metric, "target");
    if (!percent) {
      others.push_back(MetricToV1(metric, Metric::kWanted));
    } else if (std::exchange(first, false)) {  // v1 has a field for one CPU metric only
      (*spec)["targetCPUUtilizationPercentage"] = *percent;
    }
  }
  if (!others.empty()) Annotate(document, kMetrics, others);
  const json::value behavior = Take(Part(document, "spec"), "behavior");
  if (behavior.is_object()) Annotate(document, kBehavior, BehaviorToV1(behavior.get_object()));
}

void StatusToV1(json::object& document) {
  json::object* status = Part(document, "status");
  json::value metrics = Take(status, "currentMetrics");
  json::value conditions = Take(status, "conditions");
  json::array measured, checked;
  for (const json::object& metric : Objects(&metrics)) {
    if (const json::value* percent = CpuUtilization(metric, "current"))
      (*status)["currentCPUUtilizationPercentage"] = *percent;
    measured.push_back(MetricToV1(metric, Metric::kMeasured));
  }
  for (const json::object& condition : Objects(&conditions))
    checked.push_back(CheckedCondition(condition).value_or(condition));
  if (!measured.empty()) Annotate(document, kCurrentMetrics, measured);
  if (!checked.empty()) Annotate(document, kConditions, checked);
}

}  // namespace

std::vector<std::string> RoundTripAnnotations() { return {std::begin(kRoundTrip), std::end(kRoundTrip)}; }

void DropRoundTripAnnotations(json::object& document) {
  json::value* annotations = meta::Find(document, "metadata", "annotations");
  if (!annotations || !annotations->is_object()) return;
  bool dropped = false;
  for (const char* name : kRoundTrip) dropped |= meta::EraseField(annotations->get_object(), name);
  if (dropped && annotations->get_object().empty())
    meta::EraseField(meta::MakeObject(document, "metadata"), "annotations");
}

void HpaToV1(json::object& document) {
  DropRoundTripAnnotations(document);
  SpecToV1(document);
  StatusToV1(document);
}

void HpaToV2(json::object& document) {
  json::object& spec = meta::MakeObject(document, "spec");
  const json::value wanted = Take(&spec, "targetCPUUtilizationPercentage");
  json::array metrics = List(document, kMetrics, [](const json::value& metric) {
                          return MetricToV2(metric, Metric::kWanted);
                        }).value_or(json::array());
  if (wanted.is_number()) metrics.push_back(WantedCpu(wanted));
  spec["metrics"] = metrics.empty() ? DefaultMetrics() : std::move(metrics);
  if (const std::optional<json::value> given = Annotation(document, kBehavior)) {
    if (std::optional<json::object> behavior = BehaviorToV2(*given)) spec["behavior"] = std::move(*behavior);
  }

  const json::value measured = Take(Part(document, "status"), "currentCPUUtilizationPercentage");
  std::optional<json::array> current =
      List(document, kCurrentMetrics, [](const json::value& metric) { return MetricToV2(metric, Metric::kMeasured); });
  if (!current && measured.is_number()) current = json::array{CpuMetric("current", {{"averageUtilization", measured}})};
  std::optional<json::array> conditions = List(document, kConditions, &CheckedCondition);
  if (current) meta::MakeObject(document, "status")["currentMetrics"] = std::move(*current);
  if (conditions) meta::MakeObject(document, "status")["conditions"] = std::move(*conditions);
  DropRoundTripAnnotations(document);
}

std::optional<patch::ManagerInfo::View> ConvertHpa(const meta::Object& object, std::string_view api_version) {
  const meta::Gvk kind{"autoscaling", api_version == "autoscaling/v1" ? "v1" : "v2", "HorizontalPodAutoscaler"};
  if (api_version != kind.ApiVersion()) return std::nullopt;
  patch::ManagerInfo::View view{schema::Builtin().FindKind(kind), object};
  if (object.ApiVersion() == api_version) return view;
  if (kind.version == "v1") {
    HpaToV1(view.object.Root());
  } else {
    HpaToV2(view.object.Root());
  }
  view.object.SetGvk(kind);
  return view;
}

json::array DefaultMetrics() { return json::array{WantedCpu(kDefaultUtilization)}; }

}  // namespace apimesh::core_api
