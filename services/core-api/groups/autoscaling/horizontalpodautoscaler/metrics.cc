#include "services/core-api/groups/autoscaling/horizontalpodautoscaler/metrics.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "lib/base/text/text.h"
#include "lib/codec/codec.h"
#include "lib/schema/builtin.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

/// A field of v1 and the path of the same field in v2.
struct Place {
  const char* v1;
  const char* parent;  // "" if the field is in the source itself
  const char* v2;
  const char* zero = nullptr;  // JSON that v1 writes if v2 has no value; nullptr: the field is omitted
};
/// A kind of metric. Its fields are in the order of v1.
struct Source {
  const char* name;
  std::span<const Place> places;
};

constexpr const char* kNoText = "\"\"";
constexpr const char* kNoQuantity = "\"0\"";
constexpr const char* kNoReference = R"({"kind":"","name":""})";

constexpr Place kWantedObject[] = {{"target", "", "describedObject", kNoReference},
                                   {"metricName", "metric", "name", kNoText},
                                   {"targetValue", "target", "value", kNoQuantity},
                                   {"selector", "metric", "selector"},
                                   {"averageValue", "target", "averageValue"}};
constexpr Place kWantedPods[] = {{"metricName", "metric", "name", kNoText},
                                 {"targetAverageValue", "target", "averageValue", kNoQuantity},
                                 {"selector", "metric", "selector"}};
constexpr Place kWantedResource[] = {{"name", "", "name", kNoText},
                                     {"targetAverageUtilization", "target", "averageUtilization"},
                                     {"targetAverageValue", "target", "averageValue"}};
constexpr Place kWantedContainer[] = {{"name", "", "name", kNoText},
                                      {"targetAverageUtilization", "target", "averageUtilization"},
                                      {"targetAverageValue", "target", "averageValue"},
                                      {"container", "", "container", kNoText}};
constexpr Place kWantedExternal[] = {{"metricName", "metric", "name", kNoText},
                                     {"metricSelector", "metric", "selector"},
                                     {"targetValue", "target", "value"},
                                     {"targetAverageValue", "target", "averageValue"}};

constexpr Place kMeasuredObject[] = {{"target", "", "describedObject", kNoReference},
                                     {"metricName", "metric", "name", kNoText},
                                     {"currentValue", "current", "value", kNoQuantity},
                                     {"selector", "metric", "selector"},
                                     {"averageValue", "current", "averageValue"}};
constexpr Place kMeasuredPods[] = {{"metricName", "metric", "name", kNoText},
                                   {"currentAverageValue", "current", "averageValue", kNoQuantity},
                                   {"selector", "metric", "selector"}};
constexpr Place kMeasuredResource[] = {{"name", "", "name", kNoText},
                                       {"currentAverageUtilization", "current", "averageUtilization"},
                                       {"currentAverageValue", "current", "averageValue", kNoQuantity}};
constexpr Place kMeasuredContainer[] = {{"name", "", "name", kNoText},
                                        {"currentAverageUtilization", "current", "averageUtilization"},
                                        {"currentAverageValue", "current", "averageValue", kNoQuantity},
                                        {"container", "", "container", kNoText}};
constexpr Place kMeasuredExternal[] = {{"metricName", "metric", "name", kNoText},
                                       {"metricSelector", "metric", "selector"},
                                       {"currentValue", "current", "value", kNoQuantity},
                                       {"currentAverageValue", "current", "averageValue"}};

constexpr Source kWanted[] = {{"object", kWantedObject},
                              {"pods", kWantedPods},
                              {"resource", kWantedResource},
                              {"containerResource", kWantedContainer},
                              {"external", kWantedExternal}};
constexpr Source kMeasured[] = {{"object", kMeasuredObject},
                                {"pods", kMeasuredPods},
                                {"resource", kMeasuredResource},
                                {"containerResource", kMeasuredContainer},
                                {"external", kMeasuredExternal}};

std::span<const Source> SourcesOf(Metric kind) {
  return kind == Metric::kWanted ? std::span<const Source>(kWanted) : kMeasured;
}

const schema::Node& NodeOf(const char* name) {
  return *schema::Builtin().Find(fmt::format("io.k8s.api.autoscaling.v2.{}", name));
}
const schema::Node& NodeOf(Metric kind) { return NodeOf(kind == Metric::kWanted ? "MetricSpec" : "MetricStatus"); }

/// Finds a field by its case-insensitive name, as Go's decoder does. A null value counts as missing.
const json::value* FindAnyCase(const json::object& object, std::string_view name) {
  const json::value* found = meta::FindField(object, name);
  if (!found) {
    for (const auto& [key, value] : object) {
      if (EqualsIgnoreCase(key, name)) found = &value;
    }
  }
  return found && !found->is_null() ? found : nullptr;
}

std::optional<json::object> Checked(json::object document, const schema::Node& node) {
  if (!codec::Normalise(document, node, nullptr)) return std::nullopt;
  return document;
}

bool IsZero(const json::value* quantity) { return quantity && quantity->is_string() && quantity->get_string() == "0"; }

/// Sets target.type. v2 names the value that is used; in v1 it follows from the values that are present.
void SetTargetType(json::object& source, bool of_object) {
  json::object& target = meta::MakeObject(source, "target");
  const auto type = [&]() -> const char* {
    if (target.contains("averageUtilization")) return "Utilization";
    const bool average = target.contains("averageValue"), value = target.contains("value");
    if (of_object) return average ? "AverageValue" : "Value";
    return value ? "Value" : "AverageValue";
  }();
  target["type"] = type;
  // v1 always writes the value of an Object metric. A zero that only represents a missing value is removed.
  if (of_object && target.contains("averageValue") && IsZero(target.if_contains("value")))
    meta::EraseField(target, "value");
}

json::object SourceToV2(const json::object& given, const Source& source, Metric kind) {
  json::object made;
  for (const Place& place : source.places) {
    const json::value* value = FindAnyCase(given, place.v1);
    json::object& parent = *place.parent ? meta::MakeObject(made, place.parent) : made;
    if (value) {
      parent[place.v2] = *value;
    } else if (place.zero) {
      parent[place.v2] = *codec::ParseJson(place.zero, {});
    }
  }
  if (kind == Metric::kWanted) SetTargetType(made, std::string_view(source.name) == "object");
  return made;
}

struct GoName {
  const char* go;
  const char* json;
};
constexpr GoName kRules[] = {{"ScaleUp", "scaleUp"}, {"ScaleDown", "scaleDown"}};
constexpr GoName kRule[] = {{"StabilizationWindowSeconds", "stabilizationWindowSeconds"},
                            {"SelectPolicy", "selectPolicy"},
                            {"Policies", "policies"},
                            {"Tolerance", "tolerance"}};
constexpr GoName kPolicy[] = {{"Type", "type"}, {"Value", "value"}, {"PeriodSeconds", "periodSeconds"}};

json::object Renamed(const json::object& from, std::span<const GoName> names, bool to_go) {
  json::object made;
  for (const GoName& name : names) {
    const json::value* value = FindAnyCase(from, name.json);
    if (to_go) {
      made[name.go] = value ? *value : json::value();
    } else if (value) {
      made[name.json] = *value;
    }
  }
  return made;
}

/// Renames all fields of spec.behavior. Values that should be objects and are not stay unchanged; the type check
/// reports them.
json::object RenamedBehavior(const json::object& behavior, bool to_go) {
  json::object made = Renamed(behavior, kRules, to_go);
  for (auto& [rules, value] : made) {
    if (!value.is_object()) continue;
    value = Renamed(value.get_object(), kRule, to_go);
    json::value* policies = value.get_object().if_contains(to_go ? "Policies" : "policies");
    if (!policies || !policies->is_array()) continue;
    for (json::value& policy : policies->get_array()) {
      if (policy.is_object()) policy = Renamed(policy.get_object(), kPolicy, to_go);
    }
  }
  return made;
}

}  // namespace

json::object MetricToV1(const json::object& metric, Metric kind) {
  const json::object from = Checked(metric, NodeOf(kind)).value_or(metric);
  json::object made;
  made["type"] = meta::FindString(from, "type");
  for (const Source& source : SourcesOf(kind)) {
    const json::value* given = meta::FindField(from, source.name);
    if (!given || !given->is_object()) continue;
    json::object& out = meta::MakeObject(made, source.name);
    for (const Place& place : source.places) {
      const json::value* value = *place.parent ? meta::Find(given->get_object(), place.parent, place.v2)
                                               : meta::Find(given->get_object(), place.v2);
      if (value) {
        out[place.v1] = *value;
      } else if (place.zero) {
        out[place.v1] = *codec::ParseJson(place.zero, {});
      }
    }
  }
  return made;
}

std::optional<json::object> MetricToV2(const json::value& metric, Metric kind) {
  const json::object none;
  if (!metric.is_object() && !metric.is_null()) return std::nullopt;
  const json::object& from = metric.is_object() ? metric.get_object() : none;
  json::object made;
  const json::value* type = FindAnyCase(from, "type");
  made["type"] = type ? *type : json::value("");
  for (const Source& source : SourcesOf(kind)) {
    const json::value* given = FindAnyCase(from, source.name);
    if (!given) continue;
    if (!given->is_object()) return std::nullopt;
    made[source.name] = SourceToV2(given->get_object(), source, kind);
  }
  return Checked(std::move(made), NodeOf(kind));
}

json::object BehaviorToV1(const json::object& behavior) {
  return RenamedBehavior(Checked(behavior, NodeOf("HorizontalPodAutoscalerBehavior")).value_or(behavior), true);
}

std::optional<json::object> BehaviorToV2(const json::value& behavior) {
  if (!behavior.is_object()) return std::nullopt;
  json::object made = RenamedBehavior(behavior.get_object(), false);
  if (made.empty()) return std::nullopt;
  return Checked(std::move(made), NodeOf("HorizontalPodAutoscalerBehavior"));
}

std::optional<json::object> CheckedCondition(const json::value& condition) {
  if (condition.is_null()) return Checked({}, NodeOf("HorizontalPodAutoscalerCondition"));
  if (!condition.is_object()) return std::nullopt;
  return Checked(condition.get_object(), NodeOf("HorizontalPodAutoscalerCondition"));
}

}  // namespace apimesh::core_api
