#include "services/core-api/groups/authorization/review_selectors.h"

#include "lib/meta/names.h"
#include "lib/meta/selectors/limits.h"
#include "lib/meta/selectors/operator_name.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

const json::object* Selector(const json::object& attributes, std::string_view name) {
  const json::value* found = meta::FindField(attributes, name);
  return found && found->is_object() ? &found->get_object() : nullptr;
}

std::vector<service::Requirement> Requirements(const json::object& selector) {
  std::vector<service::Requirement> requirements;
  const json::value* found = meta::FindField(selector, "requirements");
  if (!found || !found->is_array()) return requirements;
  for (const json::value& item : found->get_array()) {
    if (!item.is_object()) continue;
    const json::object& one = item.get_object();
    service::Requirement& requirement = requirements.emplace_back();
    requirement.key = meta::FindString(one, "key");
    requirement.operation = meta::FindString(one, "operator");
    const json::value* values = meta::FindField(one, "values");
    if (!values || !values->is_array()) continue;
    for (const json::value& value : values->get_array()) {
      if (value.is_string()) requirement.values.emplace_back(std::string_view(value.get_string()));
    }
  }
  return requirements;
}

bool TakesValues(const service::Requirement& r) { return r.operation == "In" || r.operation == "NotIn"; }
bool TakesNone(const service::Requirement& r) { return r.operation == "Exists" || r.operation == "DoesNotExist"; }

void ValidateRequirement(const service::Requirement& requirement, bool labels, const meta::Path& path,
                         meta::FieldErrors& errors) {
  if (!labels && requirement.key.empty())
    errors.push_back(meta::Required(path.Child("key").ToString(), "must be specified"));
  const std::string values = path.Child("values").ToString();
  if (TakesValues(requirement) && requirement.values.empty()) {
    errors.push_back(meta::Required(values, "must be specified when `operator` is 'In' or 'NotIn'"));
  }
  if (TakesNone(requirement) && !requirement.values.empty()) {
    errors.push_back(meta::Forbidden(values, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
  }
  if (!labels) return;
  for (const std::string& complaint : meta::CheckQualifiedName(requirement.key)) {
    errors.push_back(meta::Invalid(path.Child("key").ToString(), meta::Quoted(requirement.key), complaint));
  }
  for (std::size_t i = 0; i < requirement.values.size(); ++i) {
    for (const std::string& complaint : meta::CheckLabelValue(requirement.values[i])) {
      errors.push_back(
          meta::Invalid(path.Child("values").Index(i).ToString(), meta::Quoted(requirement.values[i]), complaint));
    }
  }
}

// Returns the message "… ignored" or "… partially ignored", or "" if everything was parsed.
std::string Ignored(const char* name, bool any_bad, bool any_good) {
  if (!any_bad) return "";
  return fmt::format("spec.resourceAttributes.{} {}ignored due to parse error", name, any_good ? "partially " : "");
}

std::string ReadFields(const json::object& selector, service::AccessQuestion& question) {
  bool bad = false;
  if (const std::string_view raw = meta::FindString(selector, "rawSelector"); !raw.empty()) {
    const auto parsed = meta::FieldSelector::Parse(raw);
    bad = !parsed;
    if (parsed) {
      for (const auto& term : parsed->Terms())
        question.fields.push_back({term.field, term.equal ? "=" : "!=", {term.value}});
    }
  }
  for (service::Requirement& requirement : Requirements(selector)) {
    const bool understood = TakesValues(requirement) && requirement.values.size() == 1;
    bad |= !understood;
    if (!understood) continue;
    requirement.operation = requirement.operation == "In" ? "=" : "!=";
    question.fields.push_back(std::move(requirement));
  }
  return Ignored("fieldSelector", bad, !question.fields.empty());
}

std::string ReadLabels(const json::object& selector, service::AccessQuestion& question) {
  bool bad = false;
  if (const std::string_view raw = meta::FindString(selector, "rawSelector"); !raw.empty()) {
    const auto parsed = meta::LabelSelector::Parse(raw);
    bad = !parsed;
    if (parsed) {
      for (const auto& term : parsed->Requirements())
        question.labels.push_back({term.key, std::string(meta::OperatorName(term.op)), term.values});
    }
  }
  for (service::Requirement& requirement : Requirements(selector)) {
    const bool understood = TakesValues(requirement) || TakesNone(requirement);
    bad |= !understood;
    if (understood) question.labels.push_back(std::move(requirement));
  }
  return Ignored("labelSelector", bad, !question.labels.empty());
}

}  // namespace

meta::Result<> CheckSelectorSize(const json::object& attributes) {
  for (const char* name : {"fieldSelector", "labelSelector"}) {
    const json::object* selector = Selector(attributes, name);
    const json::value* requirements = selector ? meta::FindField(*selector, "requirements") : nullptr;
    if (!requirements || !requirements->is_array()) continue;
    const std::size_t count = requirements->get_array().size();
    std::size_t values = 0;
    for (const json::value& one : requirements->get_array()) {
      const json::value* listed = one.is_object() ? meta::FindField(one.get_object(), "values") : nullptr;
      if (listed && listed->is_array()) values += listed->get_array().size();
    }
    if (count > meta::kMaxRequirements || values > meta::kMaxRequirementValues) {
      return meta::BadRequest(fmt::format("the {} of an access review has more than {} requirements or {} values", name,
                                          meta::kMaxRequirements, meta::kMaxRequirementValues));
    }
  }
  return {};
}

meta::FieldErrors ValidateSelectors(const json::object& attributes) {
  meta::FieldErrors errors;
  for (const bool labels : {false, true}) {
    const char* name = labels ? "labelSelector" : "fieldSelector";
    const json::object* selector = Selector(attributes, name);
    if (!selector) continue;
    const meta::Path path(fmt::format("spec.resourceAttributes.{}", name));
    const std::string_view raw = meta::FindString(*selector, "rawSelector");
    const std::vector<service::Requirement> requirements = Requirements(*selector);
    if (!raw.empty() && !requirements.empty()) {
      errors.push_back(meta::Invalid(path.Child("rawSelector").ToString(), meta::Quoted(raw),
                                     "may not specified at the same time as requirements"));
    }
    if (raw.empty() && requirements.empty()) {
      errors.push_back(meta::Required(
          path.Child("requirements").ToString(),
          fmt::format("when {} is specified, requirements or rawSelector is required", path.ToString())));
    }
    for (std::size_t i = 0; i < requirements.size(); ++i)
      ValidateRequirement(requirements[i], labels, path.Child("requirements").Index(i), errors);
  }
  return errors;
}

std::string ReadSelectors(const json::object& attributes, service::AccessQuestion& question) {
  std::string problems;
  const auto add = [&problems](std::string problem) {
    if (!problem.empty() && !problems.empty()) problems += "; ";
    problems += problem;
  };
  if (const json::object* selector = Selector(attributes, "fieldSelector")) add(ReadFields(*selector, question));
  if (const json::object* selector = Selector(attributes, "labelSelector")) add(ReadLabels(*selector, question));
  return problems;
}

}  // namespace apimesh::core_api
