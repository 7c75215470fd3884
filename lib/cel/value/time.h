#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lib/cel/value/value.h"

namespace apimesh::cel {

constexpr std::int64_t kMinUnixTime = -62135596800;  // 0001-01-01T00:00:00Z
constexpr std::int64_t kMaxUnixTime = 253402300799;  // 9999-12-31T23:59:59Z

/// "2026-01-02T03:04:05.678+02:00", as Go parses RFC 3339.
std::optional<Value> ParseTimestamp(std::string_view text);
/// "2026-01-02"
std::optional<Value> ParseDate(std::string_view text);
/// "1h30m", "-1.5s", "100ms", as Go parses durations. Returns nanoseconds.
std::optional<std::int64_t> ParseDuration(std::string_view text);

std::string TimestampToText(const Value& timestamp);
/// Seconds with a fraction: "5400s", "1.5s".
std::string DurationToText(std::int64_t nanoseconds);

struct CivilTime {
  std::int64_t year;
  int month, day;            // from 1
  int day_of_year, weekday;  // from 0; Sunday is 0
  int hour, minute, second;
};
/// The calendar fields of a time that is already shifted to its time zone.
CivilTime ToCivil(std::int64_t seconds);
std::int64_t DaysFromCivil(std::int64_t year, int month, int day);

/// The offset from UTC in seconds that the time zone ("Europe/Berlin", "UTC", "+02:00") has at a time. On failure,
/// returns nothing and sets `error`.
std::optional<std::int32_t> ZoneOffset(std::string_view zone, std::int64_t seconds, std::string& error);

}  // namespace apimesh::cel
