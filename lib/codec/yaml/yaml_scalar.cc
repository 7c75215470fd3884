#include "lib/codec/yaml/yaml_scalar.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>

#include <fmt/format.h>

namespace apimesh::codec {
namespace {

using Kind = YamlScalar::Kind;

template <std::size_t N>
bool OneOf(std::string_view text, const std::string_view (&words)[N]) {
  return std::find(std::begin(words), std::end(words), text) != std::end(words);
}

constexpr std::string_view kNull[] = {"~", "null", "Null", "NULL"};
constexpr std::string_view kTrue[] = {"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"};
constexpr std::string_view kFalse[] = {"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"};
constexpr std::string_view kNotANumber[] = {".nan", ".NaN", ".NAN"};
constexpr std::string_view kInfinity[] = {".inf", ".Inf", ".INF"};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

std::optional<YamlScalar> Digits(std::string_view digits, int base, bool negative) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  if (negative) {
    if (value > kMost + 1) return std::nullopt;
    return YamlScalar{.kind = Kind::kInteger, .integer = static_cast<std::int64_t>(-value)};
  }
  if (value > kMost) return YamlScalar{.kind = Kind::kUnsigned, .number = value};
  return YamlScalar{.kind = Kind::kInteger, .integer = static_cast<std::int64_t>(value)};
}

/// Parses a decimal, 0x…, 0b…, 0o… or old octal 0… integer with an optional sign.
std::optional<YamlScalar> Integer(std::string_view text) {
  const bool negative = text.starts_with('-'), is_signed = negative || text.starts_with('+');
  if (is_signed) text.remove_prefix(1);
  int base = 10;
  if (text.size() > 2 && text[0] == '0' && !IsDigit(text[1])) {
    const char letter = text[1] | 0x20;
    base = letter == 'x' ? 16 : letter == 'b' ? 2 : letter == 'o' ? 8 : 0;
    if (base == 0) return std::nullopt;
    text.remove_prefix(2);
  } else if (text.size() > 1 && text[0] == '0') {
    base = 8;
    text.remove_prefix(1);
  }
  std::optional<YamlScalar> value = Digits(text, base, negative);
  // Go parses integers that do not fit as unsigned, which does not allow a sign.
  if (value && value->kind == Kind::kUnsigned && is_signed) return std::nullopt;
  return value;
}

/// Parses [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?
std::optional<YamlScalar> Float(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const std::size_t first = text.starts_with('-') ? 1 : 0;
  if (text.size() <= first || !(text[first] == '.' || IsDigit(text[first]))) return std::nullopt;
  if (text.find_first_not_of("0123456789.eE+-") != std::string_view::npos) return std::nullopt;
  YamlScalar scalar{.kind = Kind::kFloat};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), scalar.real);
  if (end != text.data() + text.size() || error == std::errc::invalid_argument) return std::nullopt;
  if (error == std::errc::result_out_of_range) {
    scalar.real = std::strtod(std::string(text).c_str(), nullptr);
    if (std::isinf(scalar.real)) return std::nullopt;  // underflow gives 0
  }
  return scalar;
}

/// Parses a number that begins with a point. Go allows "_" only between digits here.
std::optional<YamlScalar> Fraction(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') {
      plain += text[i];
    } else if (i + 1 == text.size() || !IsDigit(text[i - 1]) || !IsDigit(text[i + 1])) {
      return std::nullopt;
    }
  }
  return Float(plain);
}

std::optional<YamlScalar> Number(std::string_view text) {
  std::string plain;
  if (text.find('_') != std::string_view::npos) {
    plain = text;
    plain.erase(std::remove(plain.begin(), plain.end(), '_'), plain.end());
    text = plain;
  }
  if (const auto integer = Integer(text)) return integer;
  if (const auto real = Float(text)) return real;
  // Go parses the text after "0b" as a number with base 2, which may have its own sign.
  if (text.size() > 3 && text.starts_with("0b") && (text[2] == '-' || text[2] == '+'))
    return Digits(text.substr(3), 2, text[2] == '-');
  return std::nullopt;
}

std::string_view NameOf(YamlTag tag) {
  switch (tag) {
    case YamlTag::kInteger: return "!!int";
    case YamlTag::kFloat: return "!!float";
    case YamlTag::kBool: return "!!bool";
    case YamlTag::kNull: return "!!null";
    case YamlTag::kTimestamp: return "!!timestamp";
    default: return "!!str";
  }
}

YamlTag TagOf(const YamlScalar& scalar) {
  switch (scalar.kind) {
    case Kind::kNull: return YamlTag::kNull;
    case Kind::kBool: return YamlTag::kBool;
    case Kind::kInteger:
    case Kind::kUnsigned: return YamlTag::kInteger;
    case Kind::kFloat: return YamlTag::kFloat;
    case Kind::kString: break;
  }
  return YamlTag::kString;
}

}  // namespace

YamlScalar ResolveYamlScalar(std::string_view text) {
  if (text.empty()) return {.kind = Kind::kNull};
  constexpr std::size_t kLongestWord = 5;
  switch (text[0]) {
    case 'y':
    case 'Y':
    case 'n':
    case 'N':
    case 't':
    case 'T':
    case 'f':
    case 'F':
    case 'o':
    case 'O':
    case '~':
      if (text.size() > kLongestWord) break;
      if (OneOf(text, kNull)) return {.kind = Kind::kNull};
      if (OneOf(text, kTrue)) return {.kind = Kind::kBool, .boolean = true};
      if (OneOf(text, kFalse)) return {.kind = Kind::kBool};
      break;
    case '.': {
      if (OneOf(text, kNotANumber)) return {.kind = Kind::kFloat, .real = std::numeric_limits<double>::quiet_NaN()};
      if (OneOf(text, kInfinity)) return {.kind = Kind::kFloat, .real = std::numeric_limits<double>::infinity()};
      if (const auto real = Fraction(text)) return *real;
      break;
    }
    case '-':
    case '+':
      if (OneOf(text.substr(1), kInfinity)) {
        return {.kind = Kind::kFloat,
                .real = text[0] == '-' ? -std::numeric_limits<double>::infinity()
                                       : std::numeric_limits<double>::infinity()};
      }
      [[fallthrough]];
    case '0':
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7':
    case '8':
    case '9':
      if (const auto number = Number(text)) return *number;
      break;
    default: break;
  }
  return {};
}

std::string ResolveTaggedScalar(YamlTag tag, std::string_view text, YamlScalar& scalar) {
  scalar = {};
  const bool typed =
      tag == YamlTag::kInteger || tag == YamlTag::kFloat || tag == YamlTag::kBool || tag == YamlTag::kNull;
  if (!typed && tag != YamlTag::kTimestamp) return {};
  scalar = ResolveYamlScalar(text);
  YamlTag found = TagOf(scalar);
  if (tag == YamlTag::kTimestamp && scalar.IsString() && LooksLikeYamlTime(text)) found = YamlTag::kTimestamp;
  if (found == tag) return {};
  if (tag == YamlTag::kFloat && scalar.kind == Kind::kInteger) {
    scalar = {.kind = Kind::kFloat, .real = static_cast<double>(scalar.integer)};
    return {};
  }
  return fmt::format("yaml: cannot decode {} `{}` as a {}", NameOf(found), text, NameOf(tag));
}

bool LooksLikeYamlTime(std::string_view text) {
  if (text.size() < 8 || !IsDigit(text[0]) || !IsDigit(text[1]) || !IsDigit(text[2]) || !IsDigit(text[3]) ||
      text[4] != '-')
    return false;
  const std::size_t second = text.find('-', 5);
  if (second == std::string_view::npos || second == 5 || second > 7 || second + 1 == text.size()) return false;
  std::size_t at = 5;
  while (at < text.size() && (IsDigit(text[at]) || at == second)) ++at;
  if (at == text.size()) return at <= 10;
  return text[at] == 'T' || text[at] == 't' || text[at] == ' ';
}

std::string YamlFloatKey(double value) {
  if (std::isnan(value)) return ".nan";
  if (std::isinf(value)) return value < 0 ? "-.inf" : ".inf";
  const auto narrow = static_cast<float>(value);
  if (std::isinf(narrow)) return narrow < 0 ? "-.inf" : ".inf";
  char buffer[64];
  const auto scientific = std::to_chars(std::begin(buffer), std::end(buffer), narrow, std::chars_format::scientific);
  const std::string_view text(buffer, static_cast<std::size_t>(scientific.ptr - buffer));
  const int exponent = std::atoi(std::string(text.substr(text.find('e') + 1)).c_str());
  if (narrow != 0 && (exponent < -4 || exponent >= 6)) return std::string(text);
  const auto fixed = std::to_chars(std::begin(buffer), std::end(buffer), narrow, std::chars_format::fixed);
  return std::string(buffer, fixed.ptr);
}

}  // namespace apimesh::codec
