#include "lib/meta/equal.h"

#include <algorithm>

namespace apimesh::meta {

bool Equal(const json::object& a, const json::object& b) {
  if (a.size() != b.size()) return false;
  return std::all_of(a.begin(), a.end(), [&b](const json::key_value_pair& member) {
    const json::value* other = b.if_contains(member.key());
    return other && Equal(member.value(), *other);
  });
}

bool Equal(const json::value& a, const json::value& b) {
  if (a.is_object() || b.is_object()) return a.is_object() && b.is_object() && Equal(a.get_object(), b.get_object());
  if (!a.is_array() || !b.is_array()) return a == b;
  const auto equal = [](const json::value& x, const json::value& y) { return Equal(x, y); };
  return std::equal(a.get_array().begin(), a.get_array().end(), b.get_array().begin(), b.get_array().end(), equal);
}

bool Equal(const json::value* a, const json::value* b) { return a && b ? Equal(*a, *b) : a == b; }

}  // namespace apimesh::meta
