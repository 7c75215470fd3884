#include "lib/meta/equal.h"

#include <algorithm>

namespace apimesh::meta {
namespace {

enum class Numbers { kByType, kByText };

bool Same(const json::value& a, const json::value& b, Numbers numbers);

bool Same(const json::object& a, const json::object& b, Numbers numbers) {
  if (a.size() != b.size()) return false;
  return std::all_of(a.begin(), a.end(), [&b, numbers](const json::key_value_pair& member) {
    const json::value* other = b.if_contains(member.key());
    return other && Same(member.value(), *other, numbers);
  });
}

bool Same(const json::value& a, const json::value& b, Numbers numbers) {
  if (a.is_object() || b.is_object())
    return a.is_object() && b.is_object() && Same(a.get_object(), b.get_object(), numbers);
  if (!a.is_array() || !b.is_array()) {
    if (numbers == Numbers::kByText && a.is_number() && b.is_number() && a.is_double() != b.is_double())
      return a.to_number<double>() == b.to_number<double>();
    return a == b;
  }
  const auto same = [numbers](const json::value& x, const json::value& y) { return Same(x, y, numbers); };
  return std::equal(a.get_array().begin(), a.get_array().end(), b.get_array().begin(), b.get_array().end(), same);
}

}  // namespace

bool Equal(const json::object& a, const json::object& b) { return Same(a, b, Numbers::kByType); }
bool Equal(const json::value& a, const json::value& b) { return Same(a, b, Numbers::kByType); }
bool Equal(const json::value* a, const json::value* b) { return a && b ? Equal(*a, *b) : a == b; }
bool SameText(const json::value& a, const json::value& b) { return Same(a, b, Numbers::kByText); }

}  // namespace apimesh::meta
