#include "lib/admission/plugins/resource_quota/scopes.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lib/admission/fields.h"
#include "lib/meta/errors/field_error.h"
#include "lib/meta/names.h"

namespace apimesh::admission::resource_quota {
namespace {

bool Contains(const std::vector<std::string>& values, const std::string& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

std::string Shown(const ScopeRequirement& requirement) {
  return fmt::format("{{{} {} [{}]}}", requirement.scope, requirement.op, fmt::join(requirement.values, " "));
}

/// kube-apiserver evaluates values as those of a label, so that each must be a valid label value.
std::string InvalidValues(const ScopeRequirement& requirement) {
  std::vector<std::string> errors;
  for (std::size_t i = 0; i < requirement.values.size(); ++i) {
    const meta::Complaints wrong = meta::CheckLabelValue(requirement.values[i]);
    if (wrong.empty()) continue;
    const std::string field = fmt::format("values[{}][{}]", i, requirement.scope);
    const meta::FieldError error =
        meta::Invalid(field, meta::Quoted(requirement.values[i]), fmt::format("{}", fmt::join(wrong, "; ")));
    errors.push_back(fmt::format("{}: {}", field, error.Message()));
  }
  if (errors.empty()) return "";
  return fmt::format("error on matching scope {}: failed to parse and convert selector: {}", Shown(requirement),
                     JoinErrors(errors));
}

/// Evaluates one value of the object, as a label selector evaluates the value of a label.
bool ValueMatches(const ScopeRequirement& requirement, const std::string& value) {
  if (requirement.op == "In") return Contains(requirement.values, value);
  if (requirement.op == "NotIn") return !Contains(requirement.values, value);
  return requirement.op == "Exists";
}

}  // namespace

std::vector<ScopeRequirement> ReadRequirements(const json::array& list) {
  std::vector<ScopeRequirement> requirements;
  for (const json::value& item : list) {
    if (!item.is_object()) continue;
    ScopeRequirement requirement;
    requirement.scope = meta::FindString(item.get_object(), "scopeName");
    requirement.op = meta::FindString(item.get_object(), "operator");
    for (const json::value& value : ListAt(item.get_object(), "values")) {
      if (value.is_string()) requirement.values.emplace_back(value.get_string());
    }
    requirements.push_back(std::move(requirement));
  }
  return requirements;
}

std::vector<ScopeRequirement> RequirementsOf(const json::object& quota_spec) {
  std::vector<ScopeRequirement> requirements;
  for (const json::value& scope : ListAt(quota_spec, "scopes")) {
    if (scope.is_string()) requirements.push_back({std::string(scope.get_string()), "Exists", {}});
  }
  std::vector<ScopeRequirement> selector =
      ReadRequirements(ListAt(ObjectAt(quota_spec, "scopeSelector"), "matchExpressions"));
  std::move(selector.begin(), selector.end(), std::back_inserter(requirements));
  return requirements;
}

std::string ToString(const std::vector<ScopeRequirement>& requirements) {
  std::vector<std::string> shown;
  for (const ScopeRequirement& requirement : requirements) shown.push_back(Shown(requirement));
  return fmt::format("[{}]", fmt::join(shown, " "));
}

void Scopes::Set(std::string_view scope, bool is_in) { scopes_[std::string(scope)] = {is_in, false, {}}; }

void Scopes::SetValues(std::string_view scope, std::vector<std::string> values) {
  const bool is_in = !values.empty();
  scopes_[std::string(scope)] = {is_in, true, std::move(values)};
}

boost::system::result<bool, std::string> Scopes::Match(const ScopeRequirement& requirement) const {
  const auto found = scopes_.find(requirement.scope);
  if (found == scopes_.end()) return false;
  const Membership& membership = found->second;
  if (!membership.has_values || requirement.op == "Exists") return membership.is_in;
  if (std::string error = InvalidValues(requirement); !error.empty()) return error;
  if (!membership.is_in) return requirement.op == "NotIn" || requirement.op == "DoesNotExist";
  return std::any_of(membership.values.begin(), membership.values.end(),
                     [&requirement](const std::string& value) { return ValueMatches(requirement, value); });
}

}  // namespace apimesh::admission::resource_quota
