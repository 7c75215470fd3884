#include <charconv>
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "lib/meta/errors/field_error.h"
#include "lib/patch/apply/field_set.h"

namespace apimesh::patch {
namespace {

namespace json = meta::json;

/// The order of types: numbers, strings, booleans, lists, objects, null.
int Rank(const json::value& value) {
  switch (value.kind()) {
    case json::kind::int64:
    case json::kind::uint64:
    case json::kind::double_: return 0;
    case json::kind::string: return 1;
    case json::kind::bool_: return 2;
    case json::kind::array: return 3;
    case json::kind::object: return 4;
    default: return 5;
  }
}

template <class T>
int Order(const T& a, const T& b) {
  return a < b ? -1 : b < a ? 1 : 0;
}

int CompareValues(const json::value& a, const json::value& b) {
  if (const int order = Order(Rank(a), Rank(b))) return order;
  switch (Rank(a)) {
    case 0:
      if (a.is_int64() && b.is_int64()) return Order(a.get_int64(), b.get_int64());
      return Order(a.to_number<double>(), b.to_number<double>());
    case 1: return Order(std::string_view(a.get_string()), std::string_view(b.get_string()));
    case 2: return Order(a.get_bool(), b.get_bool());
    case 4: {  // keys of a list map: sorted by name
      const json::object& left = a.get_object();
      const json::object& right = b.get_object();
      auto i = left.begin();
      auto j = right.begin();
      for (; i != left.end() && j != right.end(); ++i, ++j) {
        if (const int order = Order(std::string_view(i->key()), std::string_view(j->key()))) return order;
        if (const int order = CompareValues(i->value(), j->value())) return order;
      }
      return Order(left.size(), right.size());
    }
    default: return Order(json::serialize(a), json::serialize(b));
  }
}

/// Returns the integer that contains the position `at` or ends there. nullopt if there is none, or if it has more than
/// 18 digits.
std::optional<std::int64_t> NumberAt(std::string_view text, std::size_t at) {
  const auto part_of_number = [](char c) {
    return (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '+' || c == 'e' || c == 'E';
  };
  std::size_t begin = at;
  while (begin > 0 && part_of_number(text[begin - 1])) --begin;
  std::size_t end = at;
  while (end < text.size() && part_of_number(text[end])) ++end;
  std::int64_t number = 0;
  if (end == begin || end - begin > 18) return std::nullopt;
  const auto [stop, error] = std::from_chars(text.data() + begin, text.data() + end, number);
  return error == std::errc() && stop == text.data() + end ? std::optional(number) : std::nullopt;
}

/// Parses a text that is an integer of at most 18 digits.
std::optional<std::int64_t> PlainNumber(std::string_view text) {
  std::int64_t number = 0;
  if (text.empty() || text.size() > 18) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

/// Compares JSON texts as values. Texts that first differ inside a plain string or an integer are compared without
/// parsing; all others are parsed.
int CompareJson(std::string_view a, std::string_view b) {
  const auto is_plain_string = [](std::string_view text) {
    return text.size() >= 2 && text.front() == '"' && !std::memchr(text.data(), '\\', text.size());
  };
  if (is_plain_string(a) && is_plain_string(b)) return a.substr(0, a.size() - 1).compare(b.substr(0, b.size() - 1));
  if (const auto left = PlainNumber(a), right = PlainNumber(b); left && right) return Order(*left, *right);
  const std::size_t common = std::min(a.size(), b.size());
  std::size_t at = 0;
  bool in_string = false;
  while (at < common && a[at] == b[at] && a[at] != '\\') in_string ^= a[at++] == '"';
  if (at == a.size() && at == b.size()) return 0;
  if (in_string && at < common && a[at] != '\\' && b[at] != '\\') {
    // The end of a string comes before any character.
    if (a[at] == '"') return -1;
    if (b[at] == '"') return 1;
    return static_cast<unsigned char>(a[at]) < static_cast<unsigned char>(b[at]) ? -1 : 1;
  }
  if (!in_string) {
    const std::optional<std::int64_t> left_number = NumberAt(a, at), right_number = NumberAt(b, at);
    if (left_number && right_number && *left_number != *right_number) return Order(*left_number, *right_number);
  }
  json::error_code error_a, error_b;
  const json::value left = json::parse(a, error_a);
  const json::value right = json::parse(b, error_b);
  if (error_a || error_b) return Order(a, b);
  const int order = CompareValues(left, right);
  return order;
}

std::string ValueText(const json::value& value) {
  if (value.is_string()) return meta::Quoted(value.get_string());
  if (value.is_double()) return fmt::format("{}", value.get_double());
  return json::serialize(value);
}

}  // namespace

int Compare(const PathElement& a, const PathElement& b) {
  if (a.kind != b.kind) return a.kind < b.kind ? -1 : 1;
  if (a.kind == PathElement::Kind::kField) return a.text.compare(b.text);
  if (a.kind == PathElement::Kind::kIndex) {
    if (a.text.size() != b.text.size()) return a.text.size() < b.text.size() ? -1 : 1;
    return Order(a.text, b.text);
  }
  return CompareJson(a.text, b.text);
}

std::string PathElement::ToString() const {
  if (kind == Kind::kField) return fmt::format(".{}", text);
  if (kind == Kind::kIndex) return fmt::format("[{}]", text);
  json::error_code error;
  const json::value value = json::parse(text, error);
  if (error) return fmt::format("[{}]", text);
  if (kind == Kind::kValue || !value.is_object()) return fmt::format("[={}]", ValueText(value));
  std::string out = "[";
  for (const auto& [name, one] : value.get_object()) {
    if (out.size() > 1) out += ',';
    out += fmt::format("{}={}", std::string_view(name), ValueText(one));
  }
  return out + "]";
}

std::string ToString(const FieldSet::Path& path) {
  std::string out;
  for (const PathElement& element : path) out += element.ToString();
  return out;
}

std::string_view TextArena::Keep(std::string_view text) {
  char* place = static_cast<char*>(memory_.allocate(text.size() + 1, 1));
  std::memcpy(place, text.data(), text.size());
  return {place, text.size()};
}

}  // namespace apimesh::patch
