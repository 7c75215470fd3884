#include "lib/admission/fields.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lib/meta/equal.h"
#include "lib/meta/names.h"

namespace apimesh::admission {
namespace {

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
  if (!a->is_array() || !b->is_array()) return meta::Equal(*a, *b);
  const json::array &left = a->get_array(), &right = b->get_array();
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](const json::value& one, const json::value& other) { return SemanticallyEqual(&one, &other); });
}

const json::array& ListAt(const json::object& object, std::string_view name) {
  static const json::array kEmpty;
  const json::value* found = meta::FindField(object, name);
  return found && found->is_array() ? found->get_array() : kEmpty;
}

const json::object& ObjectAt(const json::object& object, std::string_view name) {
  static const json::object kEmpty;
  const json::value* found = meta::FindField(object, name);
  return found && found->is_object() ? found->get_object() : kEmpty;
}

bool Has(const json::object& object, std::string_view name) {
  const json::value* found = meta::FindField(object, name);
  return found && !found->is_null();
}

std::optional<bool> BoolAt(const json::object& object, std::string_view name) {
  const json::value* found = meta::FindField(object, name);
  if (!found || !found->is_bool()) return std::nullopt;
  return found->get_bool();
}

std::optional<std::int64_t> NumberAt(const json::object& object, std::string_view name) {
  const json::value* found = meta::FindField(object, name);
  if (found && found->is_int64()) return found->get_int64();
  if (found && found->is_uint64()) return static_cast<std::int64_t>(found->get_uint64());
  return std::nullopt;
}

json::array& MakeList(json::object& object, std::string_view name) {
  json::value& list = object[name];
  return list.is_array() ? list.get_array() : list.emplace_array();
}

void AddFinalizer(meta::Object& object, std::string_view finalizer) {
  json::array& finalizers = MakeList(object.Metadata(), "finalizers");
  const bool present = std::any_of(finalizers.begin(), finalizers.end(), [finalizer](const json::value& one) {
    return one.is_string() && std::string_view(one.get_string()) == finalizer;
  });
  if (!present) finalizers.emplace_back(finalizer);
}

std::string InvalidNameError(std::string_view name) {
  if (name.empty()) return "resource name may not be empty";
  const meta::Complaints wrong = meta::CheckPathSegment(name);
  return wrong.empty() ? "" : fmt::format("invalid resource name {}: [{}]", meta::Quoted(name), fmt::join(wrong, " "));
}

std::string JoinErrors(const std::vector<std::string>& messages) {
  std::vector<std::string_view> unique;
  for (const std::string& message : messages) {
    if (std::find(unique.begin(), unique.end(), message) == unique.end()) unique.push_back(message);
  }
  return unique.size() == 1 ? std::string(unique[0]) : fmt::format("[{}]", fmt::join(unique, ", "));
}

}  // namespace apimesh::admission
