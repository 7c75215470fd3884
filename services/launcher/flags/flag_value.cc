#include "services/launcher/flags/flag_value.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>

#include <arpa/inet.h>
#include <fmt/format.h>

#include "lib/base/text/text.h"
#include "lib/base/text/trim.h"
#include "lib/meta/errors/field_error.h"

namespace apimesh::launcher {
namespace {

using meta::Quoted;

std::string SyntaxError(std::string_view function, std::string_view text) {
  return fmt::format("strconv.{}: parsing {}: invalid syntax", function, Quoted(text));
}

std::string RangeError(std::string_view function, std::string_view text) {
  return fmt::format("strconv.{}: parsing {}: value out of range", function, Quoted(text));
}

std::string BoolError(std::string& value) {
  static constexpr std::string_view kTrue[] = {"1", "t", "T", "true", "TRUE", "True"};
  static constexpr std::string_view kFalse[] = {"0", "f", "F", "false", "FALSE", "False"};
  if (std::find(std::begin(kTrue), std::end(kTrue), value) != std::end(kTrue)) {
    value = "true";
  } else if (std::find(std::begin(kFalse), std::end(kFalse), value) != std::end(kFalse)) {
    value = "false";
  } else {
    return SyntaxError("ParseBool", value);
  }
  return "";
}

std::string IntError(std::string& value) {
  if (value.empty() || value.find_first_of(" \t\r\n") != value.npos) return SyntaxError("ParseInt", value);
  errno = 0;
  char* end = nullptr;
  const long long number = std::strtoll(value.c_str(), &end, 0);
  if (end != value.c_str() + value.size()) return SyntaxError("ParseInt", value);
  if (errno == ERANGE) return RangeError("ParseInt", value);
  value = std::to_string(number);
  return "";
}

std::string IntsError(const std::string& text) {
  for (std::string& number : SplitList(text)) {
    if (std::string error = IntError(number); !error.empty()) return error;
  }
  return "";
}

/// --version is a boolean, "raw", or the version that the server reports.
std::string VersionFlagError(std::string& value) {
  return value == "raw" || value.starts_with('v') ? "" : BoolError(value);
}

std::string FloatError(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc::result_out_of_range) return RangeError("ParseFloat", text);
  return error == std::errc() && end == text.data() + text.size() ? "" : SyntaxError("ParseFloat", text);
}

/// Checks an unsigned number of 31 bits.
std::string LevelError(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || end != text.data() + text.size()) return SyntaxError("ParseUint", text);
  return error == std::errc::result_out_of_range || number > INT32_MAX ? RangeError("ParseUint", text) : "";
}

std::string DurationError(std::string_view text) {
  if (ParseGoDuration(text)) return "";
  const std::string shown = Quoted(text);
  std::string_view left = text;
  if (left.starts_with('-') || left.starts_with('+')) left.remove_prefix(1);
  while (!left.empty()) {
    const std::size_t digits = std::min(left.find_first_not_of("0123456789."), left.size());
    if (digits == 0 || left.substr(0, digits) == ".") break;
    left.remove_prefix(digits);
    const std::size_t letters = std::min(left.find_first_of("0123456789."), left.size());
    const std::string_view unit = left.substr(0, letters);
    if (unit.empty()) return fmt::format("time: missing unit in duration {}", shown);
    static constexpr std::string_view kUnits[] = {"h", "m", "s", "ms", "us", "µs", "ns"};
    if (std::find(std::begin(kUnits), std::end(kUnits), unit) == std::end(kUnits)) {
      return fmt::format("time: unknown unit {} in duration {}", Quoted(unit), shown);
    }
    left.remove_prefix(letters);
  }
  return fmt::format("time: invalid duration {}", shown);
}

std::string PortError(std::string_view text) {
  int port = 0;
  const std::string_view digits = text.starts_with('+') ? text.substr(1) : text;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  return error == std::errc() && end == digits.data() + digits.size() ? "" : SyntaxError("Atoi", text);
}

std::string PortRangeError(std::string_view given) {
  const std::string text(TrimSpace(given));
  if (text.empty()) return "";
  const std::size_t hyphen = text.find('-'), plus = text.find('+');
  if (hyphen != text.npos && plus != text.npos) return fmt::format("unable to parse port range: {}", text);
  const std::size_t separator = std::min(hyphen, plus);
  for (const std::string& port :
       {text.substr(0, separator), separator == text.npos ? std::string("0") : text.substr(separator + 1)}) {
    if (std::string error = PortError(port); !error.empty()) return error;
  }
  const PortRange range = *ParsePortRange(text);
  if (range.low > 65535 || range.high > 65535) {
    return fmt::format("the port range cannot be greater than 65535: {}", text);
  }
  return range.high < range.low ? fmt::format("end port cannot be less than start port: {}", text) : "";
}

std::string PairsError(std::string_view text) {
  for (const std::string& pair : SplitList(text)) {
    if (!pair.empty() && pair.find('=') == pair.npos) return "malformed pair, expect string=string";
  }
  return "";
}

/// Checks "metric,label=value,value", whose key contains a comma and whose value is a list.
std::string MetricLabelsError(std::string_view text) {
  return text.find('=') == text.npos ? fmt::format("{} must be formatted as key=value", text) : "";
}

/// Checks "certificate,key" or "certificate,key:name,name".
std::string CertificateAndKeyPathsError(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon != text.npos && TrimSpace(text.substr(colon + 1)).empty()) return "empty names list is not allowed";
  return SplitList(TrimSpace(text.substr(0, colon))).size() == 2
             ? ""
             : "expected comma separated certificate and key file paths";
}

std::string VmoduleError(std::string_view text) {
  for (const std::string& item : SplitList(text)) {
    if (item.empty()) continue;
    const std::size_t equals = item.find('=');
    if (equals == 0 || equals == item.npos || equals + 1 == item.size() || item.find('=', equals + 1) != item.npos) {
      return fmt::format("{} does not have the pattern=N format", Quoted(item));
    }
    if (const std::string error = LevelError(std::string_view(item).substr(equals + 1)); !error.empty()) {
      return fmt::format("parsing verbosity in {}: {}", Quoted(item), error);
    }
  }
  return "";
}

}  // namespace

std::optional<std::int64_t> ParseGoDuration(std::string_view text) {
  if (text == "0") return 0;
  bool negative = false;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  if (text.empty()) return std::nullopt;
  double total = 0;
  while (!text.empty()) {
    const std::size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + digits, number);
    if (digits == 0 || error != std::errc() || end != text.data() + digits) return std::nullopt;
    text.remove_prefix(digits);
    const std::size_t letters = std::min(text.find_first_of("0123456789."), text.size());
    const std::string_view unit = text.substr(0, letters);
    if (unit == "h")
      total += number * 3600e9;
    else if (unit == "m")
      total += number * 60e9;
    else if (unit == "s")
      total += number * 1e9;
    else if (unit == "ms")
      total += number * 1e6;
    else if (unit == "us" || unit == "µs")
      total += number * 1e3;
    else if (unit == "ns")
      total += number;
    else
      return std::nullopt;
    text.remove_prefix(letters);
  }
  if (!(total < 9.2e18)) return std::nullopt;
  return static_cast<std::int64_t>(negative ? -total : total);
}

std::optional<PortRange> ParsePortRange(std::string_view given) {
  const std::string text(TrimSpace(given));
  if (text.empty()) return PortRange();
  const std::size_t separator = text.find_first_of("-+");
  const std::string first = text.substr(0, separator);
  const std::string second = separator == text.npos ? first : text.substr(separator + 1);
  if (!PortError(first).empty() || !PortError(second).empty()) return std::nullopt;
  const int low = std::atoi(first.c_str()), other = std::atoi(second.c_str());
  return PortRange{low, separator != text.npos && text[separator] == '+' ? low + other : other};
}

bool IsIp(const std::string& text) {
  unsigned char buffer[16];
  return inet_pton(AF_INET, text.c_str(), buffer) == 1 || inet_pton(AF_INET6, text.c_str(), buffer) == 1;
}

std::string ValueError(const Flag& flag, std::string& value) {
  switch (flag.type) {
    case FlagType::kBool: return BoolError(value);
    case FlagType::kInt: return IntError(value);
    case FlagType::kLevel: return LevelError(value);
    case FlagType::kFloat: return FloatError(value);
    case FlagType::kDuration: return DurationError(value);
    case FlagType::kIp:
      return IsIp(std::string(TrimSpace(value))) || value.empty()
                 ? ""
                 : fmt::format("failed to parse IP: {}", Quoted(value));
    case FlagType::kPortRange: {
      std::string error = PortRangeError(value);
      if (!error.empty() || value.empty()) return error;
      const PortRange range = *ParsePortRange(value);
      value = fmt::format("{}-{}", range.low, range.high);
      return "";
    }
    case FlagType::kPairs: return PairsError(value);
    case FlagType::kMetricLabels: return MetricLabelsError(value);
    case FlagType::kCertificateAndKey: return CertificateAndKeyPathsError(value);
    case FlagType::kVmodule: return VmoduleError(value);
    case FlagType::kString:
    case FlagType::kStrings:
    case FlagType::kStringArray:
    case FlagType::kMap: return "";
    case FlagType::kInts: return IntsError(value);
    case FlagType::kVersion: return VersionFlagError(value);
  }
  return "";
}

}  // namespace apimesh::launcher
