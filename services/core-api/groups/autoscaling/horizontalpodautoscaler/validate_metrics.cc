#include "lib/meta/quantity.h"
#include "services/core-api/groups/autoscaling/horizontalpodautoscaler/validation.h"
#include "services/core-api/validation/resource_names.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

/// Returns the object at a field; an empty one if it is missing.
Check ChildOf(const Check& parent, std::string_view field, meta::FieldErrors& errors) {
  static const json::object empty;
  const std::optional<Check> child = parent.Child(field);
  return Check(child ? child->Object() : empty, parent.Path().Child(field), errors);
}

void RequireIn(const Check& holder, std::string_view field, std::string detail) {
  holder.Add(meta::Required(holder.Path().Child(field).ToString(), std::move(detail)));
}

void ForbidIn(const Check& holder, std::string_view field, std::string detail) {
  holder.Add(meta::Forbidden(holder.Path().Child(field).ToString(), std::move(detail)));
}

void ValidateTarget(const Check& target) {
  const std::string_view type = target.Text("type");
  target.Require("type", "must specify a metric target type");
  if (type != "Utilization" && type != "Value" && type != "AverageValue") {
    target.Add(meta::Invalid(target.Path().Child("type").ToString(), meta::Quoted(type),
                             "must be either Utilization, Value, or AverageValue"));
  }
  for (const char* field : {"value", "averageValue"}) {
    if (!target.Has(field)) continue;
    const auto amount = meta::Quantity::Parse(target.Text(field));
    if (amount && amount->Sign() <= 0) target.Invalid(field, "must be positive");
  }
  const std::optional<std::int64_t> utilization = target.Number("averageUtilization");
  if (utilization && *utilization < 1) target.Invalid("averageUtilization", "must be greater than 0");
}

void ValidateIdentifier(const Check& metric) {
  if (!metric.Require("name", "must specify a metric name")) return;
  for (std::string& complaint : meta::CheckPathSegment(metric.Text("name")))
    metric.Invalid("name", std::move(complaint));
}

void ValidateUtilization(const Check& target) {
  const bool utilization = target.Has("averageUtilization");
  const bool value = target.Has("averageValue");
  if (!utilization && !value)
    RequireIn(target, "averageUtilization", "must set either a target raw value or a target utilization");
  if (utilization && value)
    ForbidIn(target, "averageValue", "may not set both a target raw value and a target utilization");
}

void ValidateSource(const Check& source, std::string_view kind, ReferenceVersion version, meta::FieldErrors& errors) {
  const Check target = ChildOf(source, "target", errors);
  const bool value = target.Has("value");
  const bool average = target.Has("averageValue");
  if (kind == "object") ValidateReference(ChildOf(source, "describedObject", errors), version);
  if (kind == "object" || kind == "external" || kind == "pods") {
    ValidateIdentifier(ChildOf(source, "metric", errors));
  } else if (source.Require("name", "must specify a resource name") && kind == "containerResource") {
    ValidateContainerResourceName(source, source.Path().Child("name"), source.Text("name"));
  }
  if (kind == "containerResource" && source.Require("container", "must specify a container"))
    source.Names("container", meta::CheckDnsLabel);
  ValidateTarget(target);
  if (kind == "object") {
    if (!value && !average) RequireIn(target, "averageValue", "must set either a target value or averageValue");
  } else if (kind == "external") {
    if (!value && !average)
      RequireIn(target, "averageValue", "must set either a target value for metric or a per-pod target");
    if (value && average) ForbidIn(target, "value", "may not set both a target value for metric and a per-pod target");
  } else if (kind == "pods") {
    if (!average) RequireIn(target, "averageValue", "must specify a positive target averageValue");
  } else {
    ValidateUtilization(target);
  }
}

/// Returns the field that a metric of this type must have, or "" for an unknown type.
std::string_view FieldOf(std::string_view type) {
  if (type == "Object") return "object";
  if (type == "External") return "external";
  if (type == "Pods") return "pods";
  if (type == "Resource") return "resource";
  return type == "ContainerResource" ? "containerResource" : "";
}

void ValidateMetric(const Check& metric, ReferenceVersion version, meta::FieldErrors& errors) {
  const std::string_view type = metric.Text("type");
  const std::string_view expected = FieldOf(type);
  const meta::FieldError unsupported =
      meta::NotSupported(metric.Path().Child("type").ToString(), meta::Quoted(type),
                         {"ContainerResource", "External", "Object", "Pods", "Resource"});
  metric.Require("type", "must specify a metric source type");
  if (expected.empty()) metric.Add(unsupported);
  std::vector<std::string_view> present;
  for (const char* field : {"object", "external", "pods", "resource", "containerResource"}) {
    if (!metric.Has(field)) continue;
    present.push_back(field);
    if (present.size() == 1) ValidateSource(ChildOf(metric, field, errors), field, version, errors);
  }
  if (expected.empty()) {
    metric.Add(unsupported);
  } else if (!metric.Has(expected)) {
    RequireIn(metric, expected, "must populate information for the given metric source");
  }
  if (present.size() == 1) return;
  for (const std::string_view field : present) {
    if (field != expected) ForbidIn(metric, field, "must populate the given metric source only");
  }
}

}  // namespace

void ValidateMetrics(const Check& spec, ReferenceVersion described_objects) {
  bool scales_from_zero = false;
  meta::FieldErrors errors;
  for (const Check& metric : spec.Each("metrics")) {
    ValidateMetric(Check(metric.Object(), metric.Path(), errors), described_objects, errors);
    scales_from_zero = scales_from_zero || metric.Text("type") == "Object" || metric.Text("type") == "External";
  }
  for (meta::FieldError& error : errors) spec.Add(std::move(error));
  if (spec.Number("minReplicas") == std::optional<std::int64_t>(0) && !scales_from_zero) {
    ForbidIn(spec, "metrics",
             "must specify at least one Object or External metric to support scaling to zero replicas");
  }
}

}  // namespace apimesh::core_api
