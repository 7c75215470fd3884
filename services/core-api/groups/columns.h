#pragma once

#include "lib/registry/resource.h"

/// Columns and cells that many Tables have.
namespace apimesh::core_api {

registry::Column NameColumn();
registry::Column AgeColumn();
registry::Column IntegerColumn(std::string name, std::string description);
/// A column that only `-o wide` shows.
registry::Column WideColumn(std::string name, std::string description);

/// Returns the cell of AgeColumn(): "5d", "<unknown>".
meta::json::value AgeCell(const meta::Object& object, meta::Ages& ages);
/// Returns the age of any time in an object.
meta::json::value SinceCell(std::string_view time, meta::Ages& ages);
/// Returns the text, or `otherwise` if it is empty.
meta::json::value TextCell(std::string_view text, std::string_view otherwise = "");
/// Returns "True", "False", or "<unset>" if the value is missing.
std::string_view FlagText(const meta::json::value* flag);
/// Returns the number at a path; 0 if there is none.
template <class... Names>
std::int64_t NumberAt(const meta::json::object& object, const Names&... names) {
  const meta::json::value* value = meta::Find(object, names...);
  return value && value->is_int64() ? value->get_int64() : 0;
}
/// Returns "a=b,c=d" in the order of the keys, or "<none>".
std::string LabelsText(const meta::json::value* labels);
/// Returns a LabelSelector as text, or "<none>".
std::string SelectorText(const meta::json::value* selector);
/// Joins the texts of a list.
std::string JoinTexts(const meta::json::value* list, std::string_view separator = ",");

}  // namespace apimesh::core_api
