#include <set>

#include <fmt/format.h>

#include "services/core-api/groups/batch/job_spec/indexes.h"
#include "services/core-api/groups/batch/job_spec/job_spec.h"
#include "services/core-api/validation/walk.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;
using Names = std::set<std::string_view>;

constexpr std::size_t kMaxRules = 20;  // of each of the two policies
constexpr std::size_t kMaxConditions = 20;
constexpr std::size_t kMaxExitCodes = 255;
constexpr std::size_t kMaxSucceededIndexesLength = 64 * 1024;

/// Adds "required" with the accepted values, or "unsupported".
void RequireListed(const Check& holder, std::string_view field, const std::vector<std::string>& values) {
  std::string shown;
  for (const std::string& value : values) shown += (shown.empty() ? "" : " ") + meta::Quoted(value);
  if (holder.Require(field, fmt::format("valid values: [{}]", shown))) holder.OneOf(field, values);
}

void LimitItems(const Check& holder, std::string_view field, std::size_t limit) {
  const json::value* list = meta::FindField(holder.Object(), field);
  if (list && list->is_array() && list->get_array().size() > limit)
    holder.Add(meta::TooMany(holder.Path().Child(field).ToString(), list->get_array().size(), limit));
}

void ValidateValues(const Check& codes) {
  const json::value* found = meta::FindField(codes.Object(), "values");
  if (!found || !found->is_array() || found->get_array().empty())
    return codes.Invalid("values", "at least one value is required");
  LimitItems(codes, "values", kMaxExitCodes);
  bool ordered = true;
  std::set<std::int64_t> seen;
  std::optional<std::int64_t> previous;
  const json::array& values = found->get_array();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::int64_t value = values[i].is_int64() ? values[i].get_int64() : 0;
    const std::string path = codes.Path().Child("values").Index(i).ToString();
    if (value == 0 && codes.Text("operator") == "In")
      codes.Add(meta::Invalid(path, "0", "must not be 0 for the In operator"));
    if (!seen.insert(value).second) codes.Add(meta::Duplicate(path, fmt::format("{}", value)));
    if (previous && *previous > value) ordered = false;
    previous = value;
  }
  if (!ordered) codes.Invalid("values", "must be ordered");
}

void ValidateExitCodes(const Check& codes, const Names& containers) {
  RequireListed(codes, "operator", {"In", "NotIn"});
  if (codes.Has("containerName") && !containers.contains(codes.Text("containerName"))) {
    codes.Invalid("containerName", "must be one of the container or initContainer names in the pod template");
  }
  ValidateValues(codes);
}

void ValidateConditions(const Check& rule) {
  LimitItems(rule, "onPodConditions", kMaxConditions);
  for (const Check& pattern : rule.Each("onPodConditions")) {
    const std::string_view type = pattern.Text("type");
    for (std::string& complaint : meta::CheckQualifiedName(type))
      pattern.Add(meta::Invalid(pattern.Path().Child("type").ToString(), meta::Quoted(type), std::move(complaint)));
    RequireListed(pattern, "status", {"False", "True", "Unknown"});
  }
}

void ValidateFailureRule(const Check& spec, const Check& rule, const Names& containers) {
  if (rule.Text("action") == "FailIndex") {
    if (!spec.Has("backoffLimitPerIndex")) rule.Invalid("action", "requires the backoffLimitPerIndex to be set");
  } else {
    RequireListed(rule, "action", {"Count", "FailIndex", "FailJob", "Ignore"});
  }
  const std::optional<Check> codes = rule.Child("onExitCodes");
  if (codes) ValidateExitCodes(*codes, containers);
  const bool conditions = !rule.Each("onPodConditions").empty();
  if (conditions) ValidateConditions(rule);
  if (codes && conditions) {
    rule.Add(
        meta::Invalid(rule.Path().ToString(), "", "specifying both OnExitCodes and OnPodConditions is not supported"));
  } else if (!codes && !conditions) {
    rule.Add(
        meta::Invalid(rule.Path().ToString(), "", "specifying one of OnExitCodes and OnPodConditions is required"));
  }
}

void ValidateSuccessRule(const Check& rule, std::int64_t completions) {
  if (!rule.Has("succeededCount") && !rule.Has("succeededIndexes")) {
    rule.Add(
        meta::Required(rule.Path().ToString(), "at least one of succeededCount or succeededIndexes must be specified"));
  }
  std::int64_t indexes = 0;
  if (rule.Has("succeededIndexes")) {
    if (rule.Text("succeededIndexes").size() > kMaxSucceededIndexesLength)
      rule.Add(meta::TooLong(rule.Path().Child("succeededIndexes").ToString(), kMaxSucceededIndexesLength));
    const std::string error = CheckIndexes(rule.Text("succeededIndexes"), completions, &indexes);
    if (!error.empty()) rule.Invalid("succeededIndexes", "error parsing succeededIndexes: " + error);
  }
  const std::optional<std::int64_t> count = rule.Number("succeededCount");
  if (!count) return;
  rule.NonNegative("succeededCount");
  if (*count > completions) {
    rule.Invalid("succeededCount",
                 fmt::format("must be less than or equal to {} (the number of specified completions)", completions));
  }
  if (rule.Has("succeededIndexes") && *count > indexes) {
    rule.Invalid("succeededCount", fmt::format("must be less than or equal to {} (the number of indexes in the "
                                               "specified succeededIndexes field)",
                                               indexes));
  }
}

}  // namespace

void ValidatePodFailurePolicy(const Check& spec) {
  const std::optional<Check> policy = spec.Child("podFailurePolicy");
  if (!policy) return;
  LimitItems(*policy, "rules", kMaxRules);
  Names containers;
  for (const char* list : {"containers", "initContainers"}) {
    for (const json::object& container : Objects(meta::Find(spec.Object(), "template", "spec", list)))
      containers.insert(meta::FindString(container, "name"));
  }
  for (const Check& rule : policy->Each("rules")) ValidateFailureRule(spec, rule, containers);
}

void ValidateSuccessPolicy(const Check& spec) {
  const std::optional<Check> policy = spec.Child("successPolicy");
  if (!policy) return;
  if (spec.Text("completionMode") != "Indexed")
    return spec.Invalid("successPolicy", "requires indexed completion mode");
  if (policy->Each("rules").empty()) {
    policy->Add(meta::Required(policy->Path().Child("rules").ToString(),
                               "at least one rules must be specified when the successPolicy is specified"));
  }
  LimitItems(*policy, "rules", kMaxRules);
  // kube-apiserver panics if completions is missing here.
  const std::int64_t completions = spec.Number("completions").value_or(0);
  for (const Check& rule : policy->Each("rules")) ValidateSuccessRule(rule, completions);
}

}  // namespace apimesh::core_api
