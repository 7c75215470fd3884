#include "lib/cel/library/format_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "lib/base/text/utf8.h"
#include "lib/cel/library/type_values.h"
#include "lib/cel/value/collections.h"
#include "lib/cel/value/text.h"
#include "lib/cel/value/time.h"
#include "lib/meta/errors/field_error.h"

namespace apimesh::cel {
namespace {

using Kind = Value::Kind;
constexpr int kDefaultPrecision = 6;

// Reads "s" or ".3f". Returns how much was read, or 0 after setting `error`.
std::size_t ReadClause(std::string_view text, FormatClause& clause, std::string& error) {
  std::size_t i = 0;
  if (text[0] == '.') {
    const std::size_t begin = ++i;
    while (i < text.size() && text[i] >= '0' && text[i] <= '9') ++i;
    if (i >= text.size()) {
      error = "error while parsing precision: could not find end of precision specifier";
      return 0;
    }
    std::int64_t precision = 0;
    const auto [end, failure] = std::from_chars(text.data() + begin, text.data() + i, precision);
    if (failure != std::errc()) {
      error = fmt::format(
          "error while parsing precision: error while converting precision to integer: strconv.Atoi: parsing {}: {}",
          meta::Quoted(text.substr(begin, i - begin)),
          failure == std::errc::result_out_of_range ? "value out of range" : "invalid syntax");
      return 0;
    }
    clause.precision = precision;
  }
  clause.verb = text[i];
  if (std::string_view("sdfebxXo").find(clause.verb) == std::string_view::npos) {
    const char32_t shown = static_cast<unsigned char>(clause.verb);
    error = fmt::format("unrecognized formatting clause \"{}\"", ToUtf8(&shown, &shown + 1));
    return 0;
  }
  return i + 1;
}

bool FormatString(const Value& value, Arena& arena, std::string& out, std::string& error);

// A value within a list or map.
bool FormatNested(const Value& value, Arena& arena, std::string& out, std::string& error) {
  if (out.size() > kMaxMadeText) return true;
  switch (value.GetKind()) {
    case Kind::kDouble: {
      const bool special = !std::isfinite(value.AsDouble());
      const std::string text = special ? DoubleToText(value.AsDouble()) : fmt::format("{:.6f}", value.AsDouble());
      out += special ? meta::Quoted(text) : text;
      return true;
    }
    case Kind::kString: out += meta::Quoted(value.AsString()); return true;
    case Kind::kBytes:
      if (!IsValidUtf8(value.AsString())) return FormatString(value, arena, out, error);
      out += "b" + meta::Quoted(value.AsString());
      return true;
    case Kind::kTimestamp: out += fmt::format("timestamp(\"{}\")", TimestampToText(value)); return true;
    case Kind::kDuration: out += fmt::format("duration(\"{}\")", DurationToText(value.AsInt())); return true;
    case Kind::kOptional:
    case Kind::kOpaque:
    case Kind::kObject: error = fmt::format("no formatting function for {}", TypeOfValue(value)->name); return false;
    default: return FormatString(value, arena, out, error);
  }
}

bool FormatList(const Value& list, Arena& arena, std::string& out, std::string& error) {
  out += '[';
  for (std::size_t i = 0; i < ListSize(list); ++i) {
    if (i) out += ", ";
    if (!FormatNested(ListAt(list, i, arena), arena, out, error)) return false;
  }
  out += ']';
  return true;
}

bool FormatMap(const Value& map, Arena& arena, std::string& out, std::string& error) {
  std::vector<std::pair<std::string, std::string>> entries;
  std::size_t bytes = 0;
  ForEachEntry(map, arena, [&](const Value& key, const Value& value) {
    const bool valid = key.Is(Kind::kString) || key.Is(Kind::kBool) || key.Is(Kind::kInt) || key.Is(Kind::kUint);
    if (!valid) {
      error = fmt::format("no formatting function for map key of type {}", TypeOfValue(key)->name);
      return false;
    }
    auto& [k, v] = entries.emplace_back();
    if (!FormatNested(key, arena, k, error) || !FormatNested(value, arena, v, error)) return false;
    bytes += k.size() + v.size();
    return bytes <= kMaxMadeText;
  });
  if (!error.empty()) return false;
  std::sort(entries.begin(), entries.end());
  out += '{';
  for (std::size_t i = 0; i < entries.size(); ++i) out += (i ? ", " : "") + entries[i].first + ":" + entries[i].second;
  out += '}';
  return true;
}

bool FormatString(const Value& value, Arena& arena, std::string& out, std::string& error) {
  if (out.size() > kMaxMadeText) return true;
  if (value.IsList()) return FormatList(value, arena, out, error);
  if (value.IsMap()) return FormatMap(value, arena, out, error);
  switch (value.GetKind()) {
    case Kind::kTimestamp: out += TimestampToText(value); return true;
    case Kind::kDuration: out += DurationToText(value.AsInt()); return true;
    case Kind::kType: out += value.AsType()->name; return true;
    case Kind::kBytes:
      if (!IsValidUtf8(value.AsString())) {
        error = "could not convert argument \"invalid UTF-8 in bytes, cannot convert to string\" to string";
        return false;
      }
      out += value.AsString();
      return true;
    case Kind::kOptional:
    case Kind::kOpaque:
    case Kind::kObject: error = WrongArgument('s', TypeOfValue(value)->name); return false;
    default: out += ToMessage(value, arena); return true;
  }
}

std::string WithCommas(std::string digits) {
  const std::size_t begin = digits.starts_with('-') ? 1 : 0;
  const std::size_t point = std::min(digits.find('.'), digits.size());
  for (std::size_t i = point; i > begin + 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

// "1.234568×10⁰⁴", as the reference writes it for American English.
std::string Scientific(double value, int precision) {
  std::string text = fmt::format("{:.{}e}", value, precision);
  const std::size_t e = text.find('e');
  std::string out = text.substr(0, e) + "×10";
  constexpr std::string_view kDigits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  for (const char c : text.substr(e + 1)) {
    if (c == '-') out += "⁻";
    if (c >= '0' && c <= '9') out += kDigits[c - '0'];
  }
  return out;
}

bool FormatDouble(const FormatClause& clause, const Value& value, std::string& out, std::string& error) {
  double number = 0;
  const bool special = value.Is(Kind::kString) &&
                       (value.AsString() == "NaN" || value.AsString() == "Infinity" || value.AsString() == "-Infinity");
  if (special) {
    number = value.AsString() == "NaN" ? std::nan("") : value.AsString() == "Infinity" ? INFINITY : -INFINITY;
  } else if (value.Is(Kind::kDouble)) {
    number = value.AsDouble();
  } else {
    error = WrongArgument(clause.verb, TypeOfValue(value)->name);
    return false;
  }
  const std::int64_t precision = clause.precision.value_or(kDefaultPrecision);
  if (!std::isfinite(number)) {
    const std::string_view text = std::isnan(number) ? "NaN" : number < 0 ? "-∞" : "∞";
    const std::size_t width =
        clause.verb == 'e' ? static_cast<std::size_t>(std::min<std::int64_t>(precision, 1000)) : 0;
    if (CodePoints(text) < width) out += std::string(width - CodePoints(text), ' ');
    out += text;
  } else if (precision > 1'000'000) {
    out += "%!(NOVERB)";  // too much for Go
  } else if (clause.verb == 'f') {
    out += WithCommas(fmt::format("{:.{}f}", number, static_cast<int>(std::min<std::int64_t>(precision, 1000))));
  } else {
    out += Scientific(number, kDefaultPrecision);  // the precision of the clause is taken for a width
  }
  return true;
}

template <typename T>
std::string InBase(char verb, T value) {
  switch (verb) {
    case 'b': return fmt::format("{:b}", value);
    case 'o': return fmt::format("{:o}", value);
    case 'x': return fmt::format("{:x}", value);
    case 'X': return fmt::format("{:X}", value);
    default: return fmt::format("{}", value);
  }
}

bool FormatInteger(char verb, const Value& value, std::string& out, std::string& error) {
  const bool hex = verb == 'x' || verb == 'X';
  if (value.Is(Kind::kInt)) {
    out += InBase(verb, value.AsInt());
  } else if (value.Is(Kind::kUint)) {
    out += InBase(verb, value.AsUint());
  } else if (verb == 'b' && value.Is(Kind::kBool)) {
    out += value.AsBool() ? '1' : '0';
  } else if (hex && (value.Is(Kind::kString) || value.Is(Kind::kBytes))) {
    for (const char c : value.AsString())
      out += verb == 'x' ? fmt::format("{:02x}", static_cast<unsigned char>(c))
                         : fmt::format("{:02X}", static_cast<unsigned char>(c));
  } else {
    error = WrongArgument(verb, TypeOfValue(value)->name);
    return false;
  }
  return true;
}

}  // namespace

std::string WrongArgument(char verb, std::string_view type) {
  switch (verb) {
    case 'd': return fmt::format("decimal clause can only be used on integers, was given {}", type);
    case 'f': return fmt::format("fixed-point clause can only be used on doubles, was given {}", type);
    case 'e': return fmt::format("scientific clause can only be used on doubles, was given {}", type);
    case 'b': return fmt::format("only integers and bools can be formatted as binary, was given {}", type);
    case 'x':
    case 'X':
      return fmt::format("only integers, byte buffers, and strings can be formatted as hex, was given {}", type);
    case 'o': return fmt::format("octal clause can only be used on integers, was given {}", type);
    default:
      return fmt::format(
          "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and "
          "timestamps, was given {}",
          type);
  }
}

bool ReadFormat(std::string_view format, std::size_t arguments, bool lazy, const InsertClause& insert, std::string& out,
                std::string& error) {
  std::size_t index = 0;
  for (std::size_t i = 0; i < format.size();) {
    if (format[i] != '%') {
      out += format[i++];
      continue;
    }
    if (format.substr(i, 2) == "%%") {
      out += '%';
      i += 2;
      continue;
    }
    const std::string missing = fmt::format("index {} out of range", index);
    if (!lazy && index >= arguments) return error = missing, false;
    if (i + 1 >= format.size()) return error = "unexpected end of string", false;
    if (index >= arguments) return error = missing, false;
    FormatClause clause;
    const std::size_t read = ReadClause(format.substr(i + 1), clause, error);
    if (read == 0) return error = "could not parse formatting clause: " + error, false;
    if (!insert(clause, index++, out, error)) return error = "error during formatting: " + error, false;
    i += 1 + read;
  }
  return true;
}

bool FormatText(std::string_view format, const Value& arguments, Arena& arena, std::string& out, std::string& error) {
  const auto insert = [&](const FormatClause& clause, std::size_t index, std::string& text, std::string& problem) {
    const Value value = ListAt(arguments, index, arena);
    if (clause.verb == 's') return FormatString(value, arena, text, problem);
    if (clause.verb == 'f' || clause.verb == 'e') return FormatDouble(clause, value, text, problem);
    return FormatInteger(clause.verb, value, text, problem);
  };
  return ReadFormat(format, ListSize(arguments), false, insert, out, error);
}

}  // namespace apimesh::cel
