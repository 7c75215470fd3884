#include "lib/admission/plugins/node_restriction/fields.h"

#include <algorithm>

namespace apimesh::admission::node_restriction {
namespace {

namespace json = meta::json;

bool IsEmpty(const json::value* value) {
  if (!value || value->is_null()) return true;
  if (value->is_array()) return value->get_array().empty();
  return value->is_object() && value->get_object().empty();
}

bool HasEqualFields(const json::object& a, const json::object& b) {
  return std::all_of(a.begin(), a.end(),
                     [&b](const auto& field) { return SemanticallyEqual(&field.value(), b.if_contains(field.key())); });
}

}  // namespace

bool SemanticallyEqual(const json::value* a, const json::value* b) {
  if (IsEmpty(a) || IsEmpty(b)) return IsEmpty(a) && IsEmpty(b);
  if (a->is_object() && b->is_object()) {
    return HasEqualFields(a->get_object(), b->get_object()) && HasEqualFields(b->get_object(), a->get_object());
  }
  if (!a->is_array() || !b->is_array()) return *a == *b;
  const json::array &left = a->get_array(), &right = b->get_array();
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](const json::value& one, const json::value& other) { return SemanticallyEqual(&one, &other); });
}

const json::array& ListAt(const json::object& object, std::string_view name) {
  static const json::array kEmpty;
  const json::value* found = meta::FindField(object, name);
  return found && found->is_array() ? found->get_array() : kEmpty;
}

bool Has(const json::object& object, std::string_view name) {
  const json::value* found = meta::FindField(object, name);
  return found && !found->is_null();
}

meta::ApiError PlainError(std::string message) {
  meta::ApiError::Data data;
  data.message = std::move(message);
  return meta::ApiError(std::move(data));
}

StringMap LabelsOf(const meta::Object& object) {
  StringMap labels;
  const json::value* found = meta::FindField(object.Metadata(), "labels");
  if (!found || !found->is_object()) return labels;
  for (const auto& label : found->get_object()) {
    if (label.value().is_string()) labels.emplace(label.key(), std::string_view(label.value().get_string()));
  }
  return labels;
}

}  // namespace apimesh::admission::node_restriction
