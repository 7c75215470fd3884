#pragma once

#include "lib/registry/resource.h"

/// Columns and cells that many Tables have.
namespace apimesh::core_api {

registry::Column NameColumn();
registry::Column AgeColumn();
registry::Column IntegerColumn(std::string name, std::string description);
/// Shown by `-o wide` only.
registry::Column WideColumn(std::string name, std::string description);

/// The cell of AgeColumn(): "5d", "<unknown>".
meta::json::value AgeCell(const meta::Object& object, meta::Ages& ages);
/// The age of a time somewhere in an object.
meta::json::value SinceCell(std::string_view time, meta::Ages& ages);
/// The text, or `otherwise` if it is empty.
meta::json::value TextCell(std::string_view text, std::string_view otherwise = "");
/// The number at a path; 0 if there is none.
template <class... Names>
std::int64_t NumberAt(const meta::json::object& object, const Names&... names) {
  const meta::json::value* value = meta::Find(object, names...);
  return value && value->is_int64() ? value->get_int64() : 0;
}
/// "a=b,c=d" in the order of the keys, or "<none>".
std::string LabelsText(const meta::json::value* labels);
/// A LabelSelector as text, or "<none>".
std::string SelectorText(const meta::json::value* selector);
/// What a list of texts holds, with commas.
std::string JoinTexts(const meta::json::value* list, std::string_view separator = ",");

}  // namespace apimesh::core_api
