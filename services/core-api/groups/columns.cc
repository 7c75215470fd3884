#include "services/core-api/groups/columns.h"

#include <map>

#include <fmt/format.h>

#include "lib/meta/selectors/selector.h"

namespace apimesh::core_api {
namespace {

/// Returns a requirement as kube-apiserver writes it: "a=b" if it is one of matchLabels, and "a in (b)" if it is one of
/// matchExpressions.
std::string RequirementText(const meta::Requirement& requirement, const meta::json::value& selector) {
  using Op = meta::Requirement::Op;
  const std::string values = fmt::format("{}", fmt::join(requirement.values, ","));
  switch (requirement.op) {
    case Op::kExists: return requirement.key;
    case Op::kDoesNotExist: return "!" + requirement.key;
    case Op::kNotIn: return fmt::format("{} notin ({})", requirement.key, values);
    default: break;
  }
  const bool label = meta::FindString(selector.get_object(), "matchLabels", requirement.key) == values;
  return fmt::format(fmt::runtime(label ? "{}={}" : "{} in ({})"), requirement.key, values);
}

}  // namespace

registry::Column NameColumn() {
  return {.name = "Name", .format = "name", .description = "Name of the object, unique in its namespace."};
}

registry::Column AgeColumn() { return {.name = "Age", .description = "Time since the object was made."}; }

registry::Column IntegerColumn(std::string name, std::string description) {
  return {.name = std::move(name), .type = "integer", .description = std::move(description)};
}

registry::Column WideColumn(std::string name, std::string description) {
  return {.name = std::move(name), .description = std::move(description), .priority = 1};
}

meta::json::value AgeCell(const meta::Object& object, meta::Ages& ages) {
  return SinceCell(meta::FindString(object.Metadata(), "creationTimestamp"), ages);
}

meta::json::value SinceCell(std::string_view time, meta::Ages& ages) { return meta::json::string(ages.Of(time)); }

meta::json::value TextCell(std::string_view text, std::string_view otherwise) {
  return meta::json::string(text.empty() ? otherwise : text);
}

std::string_view FlagText(const meta::json::value* flag) {
  if (!flag || !flag->is_bool()) return "<unset>";
  return flag->get_bool() ? "True" : "False";
}

std::string LabelsText(const meta::json::value* labels) {
  std::map<std::string_view, std::string_view> sorted;
  if (labels && labels->is_object()) {
    for (const auto& [key, value] : labels->get_object())
      sorted[key] = value.is_string() ? std::string_view(value.get_string()) : "";
  }
  std::string text;
  for (const auto& [key, value] : sorted) text += fmt::format("{}{}={}", text.empty() ? "" : ",", key, value);
  return text.empty() ? "<none>" : text;
}

std::string SelectorText(const meta::json::value* selector) {
  if (!selector || !selector->is_object()) return "<none>";
  const meta::Result<meta::LabelSelector> parsed = meta::LabelSelector::FromObject(selector->get_object());
  if (!parsed) return "<error>";
  std::vector<std::string> texts;
  for (const meta::Requirement& requirement : parsed->Requirements())
    texts.push_back(RequirementText(requirement, *selector));
  return texts.empty() ? "<none>" : fmt::format("{}", fmt::join(texts, ","));
}

std::string JoinTexts(const meta::json::value* list, std::string_view separator) {
  std::string joined;
  if (!list || !list->is_array()) return joined;
  for (const meta::json::value& element : list->get_array()) {
    if (!element.is_string()) continue;
    if (!joined.empty()) joined += separator;
    joined += element.get_string();
  }
  return joined;
}

}  // namespace apimesh::core_api
