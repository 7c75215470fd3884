#include "services/core-api/groups/batch/cronjob/schedule.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <vector>

#include <fmt/format.h>

#include "lib/base/text/text.h"
#include "lib/meta/errors/field_error.h"

namespace apimesh::core_api {
namespace {

constexpr std::string_view kTimeZones[] = {
#include "services/core-api/groups/batch/cronjob/time_zone_names.inc"
};

/// One of the five fields of a schedule.
struct Field {
  std::int64_t min;
  std::int64_t max;
  std::vector<std::string_view> names;  // names of the values, from `min` on
};
const Field kFields[] = {
    {0, 59, {}},
    {0, 23, {}},
    {1, 31, {}},
    {1, 12, {"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}},
    {0, 6, {"sun", "mon", "tue", "wed", "thu", "fri", "sat"}},
};
constexpr std::string_view kDescriptors[] = {"@yearly", "@annually", "@monthly", "@weekly",
                                             "@daily",  "@midnight", "@hourly"};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

std::vector<std::string_view> Words(std::string_view text) {
  constexpr std::string_view kSpace = " \t\n\v\f\r";
  std::vector<std::string_view> words;
  for (std::size_t at = text.find_first_not_of(kSpace); at != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(kSpace, at), text.size());
    words.push_back(text.substr(at, end - at));
    at = text.find_first_not_of(kSpace, end);
  }
  return words;
}

/// Parses a number that is not negative. Returns an error as text.
std::string ParseNumber(std::string_view text, std::int64_t& number) {
  const bool plus = text.starts_with('+') && text.size() > 1 && IsDigit(text[1]);
  const std::string_view digits = plus ? text.substr(1) : text;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error == std::errc::result_out_of_range && end == digits.data() + digits.size())
    return fmt::format("failed to parse int from {}: strconv.Atoi: parsing {}: value out of range", text,
                       meta::Quoted(text));
  if (error != std::errc() || end != digits.data() + digits.size())
    return fmt::format("failed to parse int from {}: strconv.Atoi: parsing {}: invalid syntax", text,
                       meta::Quoted(text));
  if (number < 0) return fmt::format("negative number ({}) not allowed: {}", number, text);
  return "";
}

std::string ParseNumberOrName(std::string_view text, const Field& field, std::int64_t& number) {
  const auto found = std::find(field.names.begin(), field.names.end(), LowerCase(text));
  if (found == field.names.end()) return ParseNumber(text, number);
  number = field.min + (found - field.names.begin());
  return "";
}

/// Parses "*", "N", "N-M".
std::string ParseLimits(std::string_view range, const std::vector<std::string_view>& limits, const Field& field,
                        std::int64_t& start, std::int64_t& end) {
  if (limits[0] == "*" || limits[0] == "?") {
    start = field.min;
    end = field.max;
    return "";
  }
  if (std::string error = ParseNumberOrName(limits[0], field, start); !error.empty()) return error;
  end = start;
  if (limits.size() == 1) return "";
  if (limits.size() > 2) return fmt::format("too many hyphens: {}", range);
  return ParseNumberOrName(limits[1], field, end);
}

std::string CheckRange(std::string_view range, const Field& field) {
  const std::vector<std::string_view> parts = Split(range, '/');
  const std::vector<std::string_view> limits = Split(parts[0], '-');
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::int64_t step = 1;
  if (std::string error = ParseLimits(range, limits, field, start, end); !error.empty()) return error;
  if (parts.size() > 2) return fmt::format("too many slashes: {}", range);
  if (parts.size() == 2) {
    if (std::string error = ParseNumber(parts[1], step); !error.empty()) return error;
    if (limits.size() == 1) end = field.max;  // "N/step" means "N-max/step"
  }
  if (start < field.min) return fmt::format("beginning of range ({}) below minimum ({}): {}", start, field.min, range);
  if (end > field.max) return fmt::format("end of range ({}) above maximum ({}): {}", end, field.max, range);
  if (start > end) return fmt::format("beginning of range ({}) beyond end of range ({}): {}", start, end, range);
  if (step == 0) return fmt::format("step of range should be a positive number: {}", range);
  return "";
}

bool IsDurationUnit(std::string_view unit) {
  static constexpr std::string_view kUnits[] = {"ns", "us", "\u00b5s", "\u03bcs", "ms", "s", "m", "h"};
  return std::find(std::begin(kUnits), std::end(kUnits), unit) != std::end(kUnits);
}

/// Returns the error of Go's time.ParseDuration, or "".
std::string CheckDuration(std::string_view text) {
  const std::string quoted = meta::Quoted(text);
  std::string_view rest = text;
  if (rest.starts_with('-') || rest.starts_with('+')) rest.remove_prefix(1);
  if (rest == "0") return "";
  if (rest.empty()) return "time: invalid duration " + quoted;
  while (!rest.empty()) {
    const std::size_t number = std::min(rest.find_first_not_of("0123456789."), rest.size());
    const std::string_view digits = rest.substr(0, number);
    const std::size_t dot = digits.find('.');
    const bool two_dots = dot != std::string_view::npos && digits.find('.', dot + 1) != std::string_view::npos;
    if (digits.empty() || digits == "." || digits.size() > 18) return "time: invalid duration " + quoted;
    if (two_dots) return "time: missing unit in duration " + quoted;
    rest.remove_prefix(number);
    const std::string_view unit = rest.substr(0, std::min(rest.find_first_of("0123456789."), rest.size()));
    if (unit.empty()) return "time: missing unit in duration " + quoted;
    if (!IsDurationUnit(unit)) return fmt::format("time: unknown unit {} in duration {}", meta::Quoted(unit), quoted);
    rest.remove_prefix(unit.size());
  }
  return "";
}

std::string CheckDescriptor(std::string_view descriptor) {
  if (std::find(std::begin(kDescriptors), std::end(kDescriptors), descriptor) != std::end(kDescriptors)) return "";
  constexpr std::string_view kEvery = "@every ";
  if (!descriptor.starts_with(kEvery)) return fmt::format("unrecognized descriptor: {}", descriptor);
  const std::string error = CheckDuration(descriptor.substr(kEvery.size()));
  return error.empty() ? "" : fmt::format("failed to parse duration {}: {}", descriptor, error);
}

/// Returns the error of Go's time.LoadLocation, or "".
std::string CheckLocation(std::string_view name) {
  if (name.empty() || name == "UTC" || name == "Local") return "";
  if (name.find("..") != std::string_view::npos || name[0] == '/' || name[0] == '\\')
    return "time: invalid location name";
  if (std::binary_search(std::begin(kTimeZones), std::end(kTimeZones), name)) return "";
  return fmt::format("unknown time zone {}", name);
}

bool IsTimeZonePart(std::string_view part) {
  constexpr std::size_t kMaxLength = 14;
  const auto allowed = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || IsDigit(c) || c == '.' || c == '-' || c == '_' ||
           c == '+';
  };
  return part != "." && part != ".." && !part.empty() && part[0] != '-' && part.size() <= kMaxLength &&
         std::all_of(part.begin(), part.end(), allowed);
}

}  // namespace

std::string CheckSchedule(std::string_view schedule) {
  if (schedule.starts_with("TZ=") || schedule.starts_with("CRON_TZ=")) {
    const std::size_t space = schedule.find(' ');
    // kube-apiserver catches the panic of its parser and reports it.
    if (space == std::string_view::npos)
      return "invalid schedule format: runtime error: slice bounds out of range [:-1]";
    const std::size_t name = schedule.find('=') + 1;
    const std::string_view zone = schedule.substr(name, space - name);
    if (const std::string error = CheckLocation(zone); !error.empty())
      return fmt::format("provided bad location {}: {}", zone, error);
    schedule.remove_prefix(std::min(schedule.find_first_not_of(" \t\n\v\f\r", space), schedule.size()));
  }
  if (schedule.starts_with('@')) return CheckDescriptor(schedule);
  const std::vector<std::string_view> fields = Words(schedule);
  if (fields.size() != std::size(kFields)) {
    return fmt::format("expected exactly {} fields, found {}: [{}]", std::size(kFields), fields.size(),
                       fmt::join(fields, " "));
  }
  for (std::size_t i = 0; i < fields.size(); ++i) {
    for (const std::string_view range : Split(fields[i], ',')) {
      if (range.empty()) continue;
      if (std::string error = CheckRange(range, kFields[i]); !error.empty()) return error;
    }
  }
  return "";
}

std::string CheckTimeZone(std::string_view name) {
  for (const std::string_view part : Split(name, '/')) {
    if (!IsTimeZonePart(part)) return fmt::format("unknown time zone {}", name);
  }
  return CheckLocation(name);
}

}  // namespace apimesh::core_api
