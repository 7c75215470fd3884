#include <fmt/format.h>

#include "lib/meta/object_meta.h"
#include "services/core-api/groups/core/pod_spec/validation.h"

namespace apimesh::core_api {
namespace {

constexpr const char* kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
constexpr const char* kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";

/// A text that must be a label key, empty or not.
void LabelKey(const Check& holder, std::string_view field) {
  for (std::string& complaint : meta::CheckQualifiedName(holder.Text(field))) holder.Invalid(field, std::move(complaint));
}

std::size_t Count(const Check& holder, std::string_view field) {
  const meta::json::value* list = meta::FindField(holder.Object(), field);
  return list && list->is_array() ? list->get_array().size() : 0;
}

void ValidateNodeRequirement(const Check& requirement) {
  const std::string_view op = requirement.Text("operator");
  const std::size_t values = Count(requirement, "values");
  const std::string path = requirement.Path().Child("values").ToString();
  if (op == "In" || op == "NotIn") {
    if (values == 0) requirement.Add(meta::Required(path, "must be specified when `operator` is 'In' or 'NotIn'"));
  } else if (op == "Exists" || op == "DoesNotExist") {
    if (values > 0) requirement.Add(meta::Forbidden(path, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
  } else if (op == "Gt" || op == "Lt") {
    if (values != 1) requirement.Add(meta::Required(path, "must be specified single value when `operator` is 'Lt' or 'Gt'"));
  } else {
    requirement.Add(meta::Invalid(requirement.Path().Child("operator").ToString(), meta::Quoted(op), "not a valid selector operator"));
  }
  LabelKey(requirement, "key");
}

void ValidateNodeTerm(const Check& term) {
  for (const Check& requirement : term.Each("matchExpressions")) ValidateNodeRequirement(requirement);
  for (const Check& requirement : term.Each("matchFields")) {
    const std::string_view op = requirement.Text("operator");
    if (op != "In" && op != "NotIn") {
      requirement.Add(meta::Invalid(requirement.Path().Child("operator").ToString(), meta::Quoted(op), "not a valid selector operator"));
    } else if (Count(requirement, "values") != 1) {
      requirement.Add(meta::Required(requirement.Path().Child("values").ToString(), "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"));
    }
    if (requirement.Text("key") != "metadata.name") requirement.Invalid("key", "not a valid field selector key");
  }
}

void ValidateWeight(const Check& weighted) {
  const std::int64_t weight = weighted.Number("weight").value_or(0);
  if (weight <= 0 || weight > 100) {
    weighted.Add(meta::Invalid(weighted.Path().Child("weight").ToString(), fmt::format("{}", weight), "must be in the range 1-100"));
  }
}

void ValidateNodeAffinity(const Check& affinity) {
  if (const std::optional<Check> selector = affinity.Child(kRequired)) {
    if (Count(*selector, "nodeSelectorTerms") == 0) {
      selector->Add(meta::Required(selector->Path().Child("nodeSelectorTerms").ToString(), "must have at least one node selector term"));
    }
    for (const Check& term : selector->Each("nodeSelectorTerms")) ValidateNodeTerm(term);
  }
  for (const Check& preferred : affinity.Each(kPreferred)) {
    ValidateWeight(preferred);
    if (const std::optional<Check> term = preferred.Child("preference")) ValidateNodeTerm(*term);
  }
}

void ValidatePodTerm(const Check& term) {
  for (const char* field : {"labelSelector", "namespaceSelector"}) {
    const std::optional<Check> selector = term.Child(field);
    if (!selector) continue;
    for (meta::FieldError& error : meta::ValidateLabelSelector(selector->Object(), selector->Path())) term.Add(std::move(error));
  }
  if (term.Text("topologyKey").empty()) term.Add(meta::Required(term.Path().Child("topologyKey").ToString(), "can not be empty"));
  LabelKey(term, "topologyKey");
}

void ValidatePodAffinity(const Check& affinity) {
  for (const Check& term : affinity.Each(kRequired)) ValidatePodTerm(term);
  for (const Check& weighted : affinity.Each(kPreferred)) {
    ValidateWeight(weighted);
    if (const std::optional<Check> term = weighted.Child("podAffinityTerm")) ValidatePodTerm(*term);
  }
}

}  // namespace

void ValidateTolerations(const Check& spec) {
  for (const Check& toleration : spec.Each("tolerations")) {
    const std::string_view key = toleration.Text("key"), op = toleration.Text("operator"), value = toleration.Text("value");
    if (!key.empty()) LabelKey(toleration, "key");
    const std::string operator_path = toleration.Path().Child("operator").ToString();
    if (key.empty() && op != "Exists") {
      toleration.Add(meta::Invalid(operator_path, meta::Quoted(op), "operator must be Exists when `key` is empty, which means \"match all values and all keys\""));
    }
    if (toleration.Has("tolerationSeconds") && toleration.Text("effect") != "NoExecute") {
      toleration.Add(meta::Invalid(toleration.Path().Child("effect").ToString(), meta::Quoted(toleration.Text("effect")),
                                   "effect must be 'NoExecute' when `tolerationSeconds` is set"));
    }
    if (op.empty() || op == "Equal") {
      if (const meta::Complaints complaints = meta::CheckLabelValue(value); !complaints.empty()) {
        toleration.Add(meta::Invalid(operator_path, meta::Quoted(value), fmt::format("{}", fmt::join(complaints, ";"))));
      }
    } else if (op == "Exists") {
      if (!value.empty()) toleration.Add(meta::Invalid(operator_path, meta::Quoted(value), "value must be empty when `operator` is 'Exists'"));
    } else {
      toleration.Add(meta::NotSupported(operator_path, meta::Quoted(op), {"Equal", "Exists"}));
    }
    toleration.OneOf("effect", {"NoSchedule", "PreferNoSchedule", "NoExecute"});
  }
}

void ValidateAffinity(const Check& spec) {
  const std::optional<Check> affinity = spec.Child("affinity");
  if (!affinity) return;
  if (const std::optional<Check> node = affinity->Child("nodeAffinity")) ValidateNodeAffinity(*node);
  if (const std::optional<Check> pod = affinity->Child("podAffinity")) ValidatePodAffinity(*pod);
  if (const std::optional<Check> pod = affinity->Child("podAntiAffinity")) ValidatePodAffinity(*pod);
}

void ValidateTopologySpread(const Check& spec) {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (const Check& constraint : spec.Each("topologySpreadConstraints")) {
    if (const std::int64_t skew = constraint.Number("maxSkew").value_or(0); skew <= 0) {
      constraint.Add(meta::Invalid(constraint.Path().Child("maxSkew").ToString(), fmt::format("{}", skew), "must be greater than zero"));
    }
    constraint.Require("topologyKey", "can not be empty");
    constraint.RequireOneOf("whenUnsatisfiable", {"DoNotSchedule", "ScheduleAnyway"});
    if (!seen.emplace(constraint.Text("topologyKey"), constraint.Text("whenUnsatisfiable")).second) {
      constraint.Add(meta::Duplicate(constraint.Path().Child("{topologyKey, whenUnsatisfiable}").ToString(),
                                     meta::Quoted(fmt::format("{{{}, {}}}", constraint.Text("topologyKey"), constraint.Text("whenUnsatisfiable")))));
    }
    if (const auto domains = constraint.Number("minDomains"); domains && *domains <= 0) constraint.Invalid("minDomains", "must be greater than zero");
    for (const char* field : {"nodeAffinityPolicy", "nodeTaintsPolicy"}) constraint.OneOf(field, {"Honor", "Ignore"});
    if (const std::optional<Check> selector = constraint.Child("labelSelector")) {
      for (meta::FieldError& error : meta::ValidateLabelSelector(selector->Object(), selector->Path())) constraint.Add(std::move(error));
    }
  }
}

void ValidateSecurity(const Check& spec) {
  if (spec.IsTrue("hostPID") && spec.IsTrue("shareProcessNamespace")) {
    spec.Add(meta::Invalid(spec.Path().Child("securityContext").Child("shareProcessNamespace").ToString(), "true",
                           "ShareProcessNamespace and HostPID cannot both be enabled"));
  }
  const std::optional<Check> context = spec.Child("securityContext");
  if (!context) return;
  for (const char* field : {"fsGroup", "runAsUser", "runAsGroup"}) {
    if (const auto id = context->Number(field); id && (*id < 0 || *id > 2147483647)) context->Invalid(field, "must be between 0 and 2147483647, inclusive");
  }
  context->OneOf("fsGroupChangePolicy", {"Always", "OnRootMismatch"});
  context->OneOf("supplementalGroupsPolicy", {"Merge", "Strict"});
}

}  // namespace apimesh::core_api
