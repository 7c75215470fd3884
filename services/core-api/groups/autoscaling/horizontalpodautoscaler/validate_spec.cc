#include <algorithm>

#include <fmt/format.h>

#include "lib/meta/quantity.h"
#include "services/core-api/features/rule_features.h"
#include "services/core-api/groups/autoscaling/horizontalpodautoscaler/validation.h"
#include "services/core-api/validation/spec_fields.h"
#include "services/core-api/validation/walk.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

constexpr std::int64_t kMaxPeriodSeconds = 1800;
constexpr std::int64_t kMaxWindowSeconds = 3600;

/// Adds an error about a number, which is shown as 0 if it is missing.
void InvalidNumber(const Check& holder, std::string_view field, std::string detail) {
  holder.Add(meta::Invalid(holder.Path().Child(field).ToString(), fmt::format("{}", holder.Number(field).value_or(0)),
                           std::move(detail)));
}

void ValidatePolicy(const Check& policy) {
  const std::string_view type = policy.Text("type");
  if (type != "Percent" && type != "Pods") {
    policy.Add(meta::NotSupported(policy.Path().Child("type").ToString(), meta::Quoted(type), {"Percent", "Pods"}));
  }
  for (const char* field : {"value", "periodSeconds"}) {
    if (policy.Number(field).value_or(0) <= 0) InvalidNumber(policy, field, "must be greater than zero");
  }
  if (policy.Number("periodSeconds").value_or(0) > kMaxPeriodSeconds)
    policy.Invalid("periodSeconds", fmt::format("must be less than or equal to {}", kMaxPeriodSeconds));
}

void ValidateScalingRules(const Check& rules) {
  const std::int64_t window = rules.Number("stabilizationWindowSeconds").value_or(0);
  if (window < 0) rules.Invalid("stabilizationWindowSeconds", "must be greater than or equal to zero");
  if (window > kMaxWindowSeconds)
    rules.Invalid("stabilizationWindowSeconds", fmt::format("must be less than or equal to {}", kMaxWindowSeconds));
  const std::string_view select = rules.Text("selectPolicy");
  if (rules.Has("selectPolicy") && select != "Disabled" && select != "Max" && select != "Min") {
    rules.Add(meta::NotSupported(rules.Path().Child("selectPolicy").ToString(), meta::Quoted(select),
                                 {"Disabled", "Max", "Min"}));
  }
  const Checks policies = rules.Each("policies");
  if (policies.empty())
    rules.Add(meta::Required(rules.Path().Child("policies").ToString(), "must specify at least one Policy"));
  for (const Check& policy : policies) ValidatePolicy(policy);
  const auto tolerance = meta::Quantity::Parse(rules.Text("tolerance"));
  if (rules.Has("tolerance") && tolerance && tolerance->Sign() < 0) {
    rules.Add(meta::Invalid(rules.Path().Child("tolerance").ToString(), meta::Quoted(tolerance->ToString()),
                            "must be greater than or equal to 0"));
  }
}

ReferenceVersion TargetVersion(const Check& spec, const meta::Object* old) {
  const auto same = [&](const char* field) {
    return meta::FindString(spec.Object(), "scaleTargetRef", field) ==
           meta::FindString(old->Root(), "spec", "scaleTargetRef", field);
  };
  if (old && same("apiVersion") && same("kind")) return ReferenceVersion::kAny;
  const bool core = meta::FindString(spec.Object(), "scaleTargetRef", "kind") == "ReplicationController";
  return core ? ReferenceVersion::kMayBeCore : ReferenceVersion::kNeedsGroup;
}

/// An object whose metrics are already invalid can still be updated.
ReferenceVersion MetricsVersion(const meta::Object* old) {
  if (!old) return ReferenceVersion::kMayBeCore;
  for (const json::object& metric : Objects(meta::Find(old->Root(), "spec", "metrics"))) {
    const std::string_view version = meta::FindString(metric, "object", "describedObject", "apiVersion");
    if (meta::FindString(metric, "type") == "Object" &&
        !CheckReferenceVersion(version, ReferenceVersion::kMayBeCore).empty()) {
      return ReferenceVersion::kAny;
    }
  }
  return ReferenceVersion::kMayBeCore;
}

void ValidateReplicas(const Check& spec, const meta::Object* old) {
  const json::value* old_min = old ? meta::Find(old->Root(), "spec", "minReplicas") : nullptr;
  const bool was_zero = old_min && old_min->is_int64() && old_min->get_int64() == 0;
  const std::int64_t lowest = ActiveRuleFeatures().hpa_scale_to_zero || was_zero ? 0 : 1;
  const std::optional<std::int64_t> min = spec.Number("minReplicas");
  const std::int64_t max = spec.Number("maxReplicas").value_or(0);
  if (min && *min < lowest) spec.Invalid("minReplicas", fmt::format("must be greater than or equal to {}", lowest));
  if (max == 0) {
    spec.Add(meta::Required("spec.maxReplicas", "must be set and greater than 0"));
  } else if (max < 0) {
    spec.Invalid("maxReplicas", "must be greater than or equal to 1");
  }
  if (min && max < *min) InvalidNumber(spec, "maxReplicas", "must be greater than or equal to `minReplicas`");
}

}  // namespace

std::string CheckReferenceVersion(std::string_view api_version, ReferenceVersion version) {
  if (version == ReferenceVersion::kAny) return "";
  const auto slashes = std::count(api_version.begin(), api_version.end(), '/');
  if (slashes > 1) return fmt::format("unexpected GroupVersion string: {}", api_version);
  const bool has_group = slashes == 1 && !api_version.starts_with('/');
  return version == ReferenceVersion::kNeedsGroup && !has_group ? "apiVersion must specify API group" : "";
}

void ValidateReference(const Check& reference, ReferenceVersion version) {
  for (const char* field : {"kind", "name"}) {
    if (!reference.Require(field)) continue;
    for (std::string& complaint : meta::CheckPathSegment(reference.Text(field)))
      reference.Invalid(field, std::move(complaint));
  }
  const std::string_view api_version = reference.Text("apiVersion");
  if (std::string error = CheckReferenceVersion(api_version, version); !error.empty()) {
    reference.Add(
        meta::Invalid(reference.Path().Child("apiVersion").ToString(), meta::Quoted(api_version), std::move(error)));
  }
}

meta::FieldErrors ValidateHpa(const meta::Object& object, const meta::Object* old) {
  meta::FieldErrors errors;
  static const json::object empty;
  const Check spec = SpecOf(object, errors);
  ValidateReplicas(spec, old);
  const std::optional<Check> target = spec.Child("scaleTargetRef");
  ValidateReference(target ? *target : Check(empty, spec.Path().Child("scaleTargetRef"), errors),
                    TargetVersion(spec, old));
  ValidateMetrics(spec, MetricsVersion(old));
  if (const std::optional<Check> behavior = spec.Child("behavior")) {
    for (const char* direction : {"scaleUp", "scaleDown"}) {
      if (const std::optional<Check> rules = behavior->Child(direction)) ValidateScalingRules(*rules);
    }
  }
  return errors;
}

meta::FieldErrors ValidateHpaStatus(const meta::Object& object) {
  meta::FieldErrors errors;
  const Check status = StatusOf(object, errors);
  status.NonNegative("currentReplicas");
  status.NonNegative("desiredReplicas");
  return errors;
}

}  // namespace apimesh::core_api
