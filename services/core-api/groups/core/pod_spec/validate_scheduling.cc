#include <charconv>
#include <map>

#include <fmt/format.h>

#include "lib/meta/object_meta.h"
#include "services/core-api/features/rule_features.h"
#include "services/core-api/groups/core/pod_spec/validation.h"
#include "services/core-api/validation/enums.h"
#include "services/core-api/validation/texts.h"

namespace apimesh::core_api {
namespace {

constexpr const char* kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
constexpr const char* kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";

/// Checks that a text is a label key, even if it is empty.
void LabelKey(const Check& holder, std::string_view field) {
  for (std::string& complaint : meta::CheckQualifiedName(holder.Text(field)))
    holder.Invalid(field, std::move(complaint));
}

std::size_t Count(const Check& holder, std::string_view field) {
  const meta::json::value* list = meta::FindField(holder.Object(), field);
  return list && list->is_array() ? list->get_array().size() : 0;
}

void ValidateNodeRequirement(const Check& requirement, bool check_values) {
  const std::string_view op = requirement.Text("operator");
  const std::size_t values = Count(requirement, "values");
  const std::string path = requirement.Path().Child("values").ToString();
  if (op == "In" || op == "NotIn") {
    if (values == 0) requirement.Add(meta::Required(path, "must be specified when `operator` is 'In' or 'NotIn'"));
  } else if (op == "Exists" || op == "DoesNotExist") {
    if (values > 0)
      requirement.Add(meta::Forbidden(path, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
  } else if (op == "Gt" || op == "Lt") {
    if (values != 1)
      requirement.Add(meta::Required(path, "must be specified single value when `operator` is 'Lt' or 'Gt'"));
  } else {
    requirement.Add(meta::Invalid(requirement.Path().Child("operator").ToString(), meta::Quoted(op),
                                  "not a valid selector operator"));
  }
  LabelKey(requirement, "key");
  if (!check_values) return;
  std::size_t index = 0;
  for (const std::string_view value : TextsOf(requirement, "values"))
    CheckText(requirement, requirement.Path().Child("values").Index(index++), value, meta::CheckLabelValue);
}

void ValidateNodeTerm(const Check& term, bool check_values = false) {
  for (const Check& requirement : term.Each("matchExpressions")) ValidateNodeRequirement(requirement, check_values);
  for (const Check& requirement : term.Each("matchFields")) {
    const std::string_view op = requirement.Text("operator");
    if (op != "In" && op != "NotIn") {
      requirement.Add(meta::Invalid(requirement.Path().Child("operator").ToString(), meta::Quoted(op),
                                    "not a valid selector operator"));
    } else if (Count(requirement, "values") != 1) {
      requirement.Add(
          meta::Required(requirement.Path().Child("values").ToString(),
                         "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"));
    }
    if (requirement.Text("key") != "metadata.name") {
      requirement.Invalid("key", "not a valid field selector key");
      continue;
    }
    std::size_t index = 0;
    for (const std::string_view name : TextsOf(requirement, "values"))
      CheckText(requirement, requirement.Path().Child("values").Index(index++), name, meta::CheckDnsSubdomain);
  }
}

void ValidateWeight(const Check& weighted) {
  const std::int64_t weight = weighted.Number("weight").value_or(0);
  if (weight <= 0 || weight > 100) {
    weighted.Add(meta::Invalid(weighted.Path().Child("weight").ToString(), fmt::format("{}", weight),
                               "must be in the range 1-100"));
  }
}

void ValidateNodeAffinity(const Check& affinity) {
  if (const std::optional<Check> selector = affinity.Child(kRequired)) ValidateNodeSelector(*selector, true);
  for (const Check& preferred : affinity.Each(kPreferred)) {
    ValidateWeight(preferred);
    if (const std::optional<Check> term = preferred.Child("preference")) ValidateNodeTerm(*term);
  }
}

/// Validates a list of label keys that are added to the label selector when a pod is created.
void ValidateLabelKeys(const Check& term, std::string_view field) {
  const std::vector<std::string_view> keys = TextsOf(term, field);
  if (keys.empty()) return;
  const meta::Path path = term.Path().Child(field);
  if (!term.Has("labelSelector")) {
    term.Add(meta::Forbidden(path.ToString(), "must not be specified when labelSelector is not set"));
    return;
  }
  std::size_t index = 0;
  for (const std::string_view key : keys) CheckText(term, path.Index(index++), key, meta::CheckQualifiedName);
}

/// A key that is added to the selector must not be in the selector already. By then it is there twice.
void AddMatchLabels(const Check& selector, TextIndex& keys) {
  if (const std::optional<Check> labels = selector.Child("matchLabels")) {
    for (const auto& [key, value] : labels->Object()) keys.Add(key);
  }
}

void ValidateKeysNotInSelector(const Check& term) {
  const std::optional<Check> selector = term.Child("labelSelector");
  if (!selector) return;
  TextIndex keys, selected;
  for (const std::string_view key : TextsOf(term, "matchLabelKeys")) keys.Add(key);
  AddMatchLabels(*selector, selected);
  for (const Check& requirement : selector->Each("matchExpressions")) {
    const std::string_view key = requirement.Text("key");
    const std::optional<std::size_t> index = keys.Find(key);
    if (!selected.Add(key).is_new && index) {
      term.Add(meta::Invalid(term.Path().Index(*index).ToString(), meta::Quoted(key),
                             "exists in both matchLabelKeys and labelSelector"));
    }
  }
}

void ValidateMatchLabelKeys(const Check& term) {
  ValidateLabelKeys(term, "matchLabelKeys");
  ValidateLabelKeys(term, "mismatchLabelKeys");
  ValidateKeysNotInSelector(term);
  TextIndex mismatched;
  for (const std::string_view key : TextsOf(term, "mismatchLabelKeys")) mismatched.Add(key);
  std::size_t index = 0;
  for (const std::string_view key : TextsOf(term, "matchLabelKeys")) {
    if (mismatched.Contains(key)) {
      term.Add(meta::Invalid(term.Path().Child("matchLabelKeys").Index(index).ToString(), meta::Quoted(key),
                             "exists in both matchLabelKeys and mismatchLabelKeys"));
    }
    ++index;
  }
}

void ValidatePodTerm(const Check& term) {
  for (const char* field : {"labelSelector", "namespaceSelector"}) {
    const std::optional<Check> selector = term.Child(field);
    if (!selector) continue;
    for (meta::FieldError& error : meta::ValidateLabelSelector(selector->Object(), selector->Path()))
      term.Add(std::move(error));
  }
  for (const std::string_view name : TextsOf(term, "namespaces"))
    CheckText(term, term.Path().Child("namespace"), name, meta::CheckDnsLabel);
  ValidateMatchLabelKeys(term);
  if (term.Text("topologyKey").empty())
    term.Add(meta::Required(term.Path().Child("topologyKey").ToString(), "can not be empty"));
  LabelKey(term, "topologyKey");
}

void ValidatePodAffinity(const Check& affinity) {
  for (const Check& term : affinity.Each(kRequired)) ValidatePodTerm(term);
  for (const Check& weighted : affinity.Each(kPreferred)) {
    ValidateWeight(weighted);
    if (const std::optional<Check> term = weighted.Child("podAffinityTerm")) ValidatePodTerm(*term);
  }
}

/// Without merged selectors, the keys are validated by an older rule.
void ValidateSpreadKeys(const Check& constraint) {
  const RuleFeatures& features = ActiveRuleFeatures();
  if (features.match_label_keys_in_pod_topology_spread &&
      features.match_label_keys_in_pod_topology_spread_selector_merge) {
    return ValidateMatchLabelKeys(constraint);
  }
  const std::vector<std::string_view> keys = TextsOf(constraint, "matchLabelKeys");
  if (keys.empty()) return;
  const meta::Path path = constraint.Path().Child("matchLabelKeys");
  const std::optional<Check> selector = constraint.Child("labelSelector");
  if (!selector) constraint.Forbid("matchLabelKeys", "must not be specified when labelSelector is not set");
  TextIndex selected;
  if (selector) {
    AddMatchLabels(*selector, selected);
    for (const Check& requirement : selector->Each("matchExpressions")) selected.Add(requirement.Text("key"));
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    CheckText(constraint, path.Index(i), keys[i], &meta::CheckQualifiedName);
    if (selected.Contains(keys[i])) {
      constraint.Add(meta::Invalid(path.Index(i).ToString(), meta::Quoted(keys[i]),
                                   "exists in both matchLabelKeys and labelSelector"));
    }
  }
}

/// Validates the value of a toleration that compares numbers.
void ValidateComparedNumber(const Check& toleration) {
  const std::string_view text = toleration.Text("value");
  const std::string path = toleration.Path().Child("value").ToString(), shown = meta::Quoted(text);
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  const bool is_number = !digits.empty() && digits.find_first_not_of("0123456789") == std::string_view::npos;
  if (text.empty()) {
    toleration.Add(meta::Invalid(path, shown, "must be non-empty"));
  } else if (!is_number || (digits.front() == '0' && text != "0")) {
    toleration.Add(meta::Invalid(path, shown, "must be a valid decimal integer in canonical form"));
  }
  // The second rule is that of a parser that accepts a plus sign and leading zeros.
  const std::string_view parsed = text.starts_with('+') ? text.substr(1) : text;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(parsed.data(), parsed.data() + parsed.size(), number);
  const bool is_syntax = error == std::errc::invalid_argument || end != parsed.data() + parsed.size() ||
                         (text.starts_with('+') && parsed.starts_with('-'));
  if (error == std::errc() && !is_syntax) return;
  toleration.Add(meta::Invalid(
      path, shown,
      fmt::format("strconv.ParseInt: parsing {}: {}", shown, is_syntax ? "invalid syntax" : "value out of range")));
}

}  // namespace

void ValidateTolerations(const Check& spec) {
  for (const Check& toleration : spec.Each("tolerations")) {
    const std::string_view key = toleration.Text("key"), op = toleration.Text("operator"),
                           value = toleration.Text("value");
    if (!key.empty()) LabelKey(toleration, "key");
    const std::string operator_path = toleration.Path().Child("operator").ToString();
    if (key.empty() && op != "Exists") {
      toleration.Add(
          meta::Invalid(operator_path, meta::Quoted(op),
                        "operator must be Exists when `key` is empty, which means \"match all values and all keys\""));
    }
    if (toleration.Has("tolerationSeconds") && toleration.Text("effect") != "NoExecute") {
      toleration.Add(meta::Invalid(toleration.Path().Child("effect").ToString(),
                                   meta::Quoted(toleration.Text("effect")),
                                   "effect must be 'NoExecute' when `tolerationSeconds` is set"));
    }
    if (op.empty() || op == "Equal") {
      if (const meta::Complaints complaints = meta::CheckLabelValue(value); !complaints.empty()) {
        toleration.Add(
            meta::Invalid(operator_path, meta::Quoted(value), fmt::format("{}", fmt::join(complaints, ";"))));
      }
    } else if (op == "Exists") {
      if (!value.empty())
        toleration.Add(
            meta::Invalid(operator_path, meta::Quoted(value), "value must be empty when `operator` is 'Exists'"));
    } else {
      const bool compares = op == "Lt" || op == "Gt";
      if (compares && ActiveRuleFeatures().taint_toleration_comparison_operators) {
        ValidateComparedNumber(toleration);
      } else {
        const std::vector<std::string> known = {"Equal", "Exists", "Lt", "Gt"};
        toleration.Add(
            meta::NotSupported(operator_path, meta::Quoted(op), {known.begin(), known.begin() + (compares ? 4 : 2)}));
      }
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
  // kube-apiserver reports a repeated constraint at the first of the two.
  std::map<std::pair<std::string_view, std::string_view>, std::size_t> last;
  std::size_t index = 0;
  const auto key = [](const Check& constraint) {
    return std::pair(constraint.Text("topologyKey"), constraint.Text("whenUnsatisfiable"));
  };
  for (const Check& constraint : spec.Each("topologySpreadConstraints")) last[key(constraint)] = index++;
  index = 0;
  for (const Check& constraint : spec.Each("topologySpreadConstraints")) {
    if (const std::int64_t skew = constraint.Number("maxSkew").value_or(0); skew <= 0) {
      constraint.Add(meta::Invalid(constraint.Path().Child("maxSkew").ToString(), fmt::format("{}", skew),
                                   "must be greater than zero"));
    }
    constraint.Require("topologyKey", "can not be empty");
    ValidateEnum(constraint, "whenUnsatisfiable", {"DoNotSchedule", "ScheduleAnyway"});
    const std::string_view action = constraint.Text("whenUnsatisfiable");
    if (last[key(constraint)] > index++) {
      constraint.Add(meta::Duplicate(constraint.Path().Child("{topologyKey, whenUnsatisfiable}").ToString(),
                                     meta::Quoted(fmt::format("{{{}, {}}}", constraint.Text("topologyKey"), action))));
    }
    if (const auto domains = constraint.Number("minDomains")) {
      if (*domains <= 0) constraint.Invalid("minDomains", "must be greater than zero");
      if (action != "DoNotSchedule") {
        constraint.Invalid("minDomains",
                           fmt::format("can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {}", action));
      }
    }
    for (const char* field : {"nodeAffinityPolicy", "nodeTaintsPolicy"}) {
      if (constraint.Has(field)) ValidateEnum(constraint, field, {"Honor", "Ignore"});
    }
    ValidateSpreadKeys(constraint);
    if (const std::optional<Check> selector = constraint.Child("labelSelector")) {
      for (meta::FieldError& error : meta::ValidateLabelSelector(selector->Object(), selector->Path()))
        constraint.Add(std::move(error));
    }
  }
}

void ValidateNodeSelector(const Check& selector, bool check_values) {
  if (Count(selector, "nodeSelectorTerms") == 0) {
    selector.Add(meta::Required(selector.Path().Child("nodeSelectorTerms").ToString(),
                                "must have at least one node selector term"));
  }
  for (const Check& term : selector.Each("nodeSelectorTerms")) ValidateNodeTerm(term, check_values);
}

}  // namespace apimesh::core_api
