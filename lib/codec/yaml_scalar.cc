#include "lib/codec/yaml_scalar.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

namespace apimesh::codec {
namespace {

namespace json = meta::json;

template <std::size_t N>
bool OneOf(std::string_view text, const std::string_view (&words)[N]) {
  return std::find(std::begin(words), std::end(words), text) != std::end(words);
}

constexpr std::string_view kNull[] = {"", "~", "null", "Null", "NULL"};
constexpr std::string_view kTrue[] = {"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"};
constexpr std::string_view kFalse[] = {"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"};

/// Decimal, 0x…, 0b…, 0o… and the old octal 0….
std::optional<std::int64_t> Integer(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  int base = 10;
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'b' || text[1] == 'o')) {
    base = text[1] == 'x' ? 16 : text[1] == 'b' ? 2 : 8;
    text.remove_prefix(2);
  } else if (text.size() > 1 && text[0] == '0') {
    base = 8;
    text.remove_prefix(1);
  }
  std::string digits = negative ? "-" : "";
  digits += text;
  if (text.empty() || text[0] == '-') return std::nullopt;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  return error == std::errc() && end == digits.data() + digits.size() ? std::optional(value) : std::nullopt;
}

/// [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?
std::optional<double> Float(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const std::size_t first = text.starts_with('-') ? 1 : 0;
  if (text.size() <= first || !(text[first] == '.' || (text[first] >= '0' && text[first] <= '9'))) return std::nullopt;
  if (text.find_first_not_of("0123456789.eE+-") != std::string_view::npos) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

}  // namespace

json::value ResolveYamlScalar(std::string_view text, json::storage_ptr arena) {
  if (OneOf(text, kNull)) return nullptr;
  const char first = text[0];
  if (OneOf(text, kTrue)) return true;
  if (OneOf(text, kFalse)) return false;
  if (first == '.' || first == '-' || first == '+' || (first >= '0' && first <= '9')) {
    std::string plain(text);
    plain.erase(std::remove(plain.begin(), plain.end(), '_'), plain.end());
    if (const auto integer = Integer(plain)) return *integer;
    if (const auto real = Float(plain)) return *real;
  }
  return json::value(json::string_view(text.data(), text.size()), std::move(arena));
}

}  // namespace apimesh::codec
