#include "lib/meta/time.h"

#include <fmt/format.h>

namespace apimesh::meta {
namespace {

using std::chrono::days;
using std::chrono::duration_cast;
using std::chrono::microseconds;
using std::chrono::nanoseconds;
using std::chrono::sys_days;
using std::chrono::year_month_day;

struct Parts {
  year_month_day date;
  std::int64_t hour, minute, second, micros;
};

Parts Split(WallTime time) {
  const auto day = std::chrono::floor<days>(time);
  const std::int64_t micros = std::chrono::floor<microseconds>(time - day).count();
  const std::int64_t seconds = micros / 1'000'000;
  return {year_month_day(day), seconds / 3600, seconds / 60 % 60, seconds % 60, micros % 1'000'000};
}

/// Takes exactly `count` digits from the front of `text`.
bool TakeNumber(std::string_view& text, std::size_t count, int& out) {
  if (text.size() < count) return false;
  out = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (text[i] < '0' || text[i] > '9') return false;
    out = out * 10 + (text[i] - '0');
  }
  text.remove_prefix(count);
  return true;
}

bool Take(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

std::string FormatTime(WallTime time) {
  const Parts p = Split(time);
  // This is called several times per write. All years that WallTime can represent have four digits.
  std::string text = "0000-00-00T00:00:00Z";
  const auto put = [&text](std::size_t at, auto number) {
    text[at] = static_cast<char>('0' + number / 10);
    text[at + 1] = static_cast<char>('0' + number % 10);
  };
  put(0, int(p.date.year()) / 100);
  put(2, int(p.date.year()) % 100);
  put(5, unsigned(p.date.month()));
  put(8, unsigned(p.date.day()));
  put(11, p.hour);
  put(14, p.minute);
  put(17, p.second);
  return text;
}

std::string FormatMicroTime(WallTime time) {
  const Parts p = Split(time);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", int(p.date.year()), unsigned(p.date.month()),
                     unsigned(p.date.day()), p.hour, p.minute, p.second, p.micros);
}

std::optional<WallTime> ParseTime(std::string_view text) {
  int year, month, day, hour, minute, second;
  if (!TakeNumber(text, 4, year) || !Take(text, '-') || !TakeNumber(text, 2, month) || !Take(text, '-') ||
      !TakeNumber(text, 2, day) || !Take(text, 'T') || !TakeNumber(text, 2, hour) || !Take(text, ':') ||
      !TakeNumber(text, 2, minute) || !Take(text, ':') || !TakeNumber(text, 2, second)) {
    return std::nullopt;
  }
  const year_month_day date{std::chrono::year(year), std::chrono::month(unsigned(month)),
                            std::chrono::day(unsigned(day))};
  // WallTime counts nanoseconds in 64 bits. Years outside of its range are refused.
  if (!date.ok() || hour > 23 || minute > 59 || second > 59 || year < 1678 || year > 2261) return std::nullopt;
  nanoseconds fraction{0};
  if (!text.empty() && (text.front() == '.' || text.front() == ',')) {
    text.remove_prefix(1);
    std::int64_t unit = 100'000'000;
    std::size_t digits = 0;
    for (; digits < text.size() && text[digits] >= '0' && text[digits] <= '9'; ++digits, unit /= 10) {
      fraction += nanoseconds((text[digits] - '0') * unit);
    }
    if (digits == 0) return std::nullopt;
    text.remove_prefix(digits);
  }
  std::chrono::minutes offset{0};
  if (!Take(text, 'Z')) {
    const bool east = !text.empty() && text.front() == '+';
    int hours, minutes;
    if ((!Take(text, '+') && !Take(text, '-')) || !TakeNumber(text, 2, hours) || !Take(text, ':') ||
        !TakeNumber(text, 2, minutes) || hours > 24 || minutes > 60) {
      return std::nullopt;
    }
    offset = std::chrono::minutes(hours * 60 + minutes) * (east ? 1 : -1);
  }
  if (!text.empty()) return std::nullopt;
  return WallTime(sys_days(date)) + std::chrono::hours(hour) + std::chrono::minutes(minute) +
         std::chrono::seconds(second) - offset + duration_cast<WallTime::duration>(fraction);
}

std::string HumanDuration(nanoseconds duration, nanoseconds* until) {
  constexpr std::int64_t kNanos = 1'000'000'000, kMinute = 60, kHour = 60 * kMinute, kDay = 24 * kHour,
                         kYear = 365 * kDay;
  const std::int64_t seconds = duration.count() / kNanos;
  // The text changes when the smallest unit that it shows has elapsed.
  const auto shows = [&](std::int64_t unit) {
    const std::int64_t next = (seconds / unit + 1) * unit;
    if (until) *until = next > nanoseconds::max().count() / kNanos ? nanoseconds::max() : nanoseconds(next * kNanos);
  };
  // The clocks of two machines may differ by a second.
  if (seconds < -1) {
    if (until) *until = nanoseconds(-2 * kNanos + 1);
    return "<invalid>";
  }
  if (seconds < 0) {
    if (until) *until = nanoseconds(kNanos);
    return "0s";
  }
  const auto with_rest = [](std::int64_t whole, char unit, std::int64_t rest, char rest_unit) {
    return rest == 0 ? fmt::format("{}{}", whole, unit) : fmt::format("{}{}{}{}", whole, unit, rest, rest_unit);
  };
  if (seconds < 10 * kMinute) {
    shows(1);
    return seconds < 2 * kMinute ? fmt::format("{}s", seconds)
                                 : with_rest(seconds / kMinute, 'm', seconds % kMinute, 's');
  }
  if (seconds < 8 * kHour) {
    shows(kMinute);
    return seconds < 3 * kHour ? fmt::format("{}m", seconds / kMinute)
                               : with_rest(seconds / kHour, 'h', seconds % kHour / kMinute, 'm');
  }
  if (seconds < 8 * kDay) {
    shows(kHour);
    return seconds < 2 * kDay ? fmt::format("{}h", seconds / kHour)
                              : with_rest(seconds / kDay, 'd', seconds % kDay / kHour, 'h');
  }
  if (seconds < 8 * kYear) {
    shows(kDay);
    return seconds < 2 * kYear ? fmt::format("{}d", seconds / kDay)
                               : with_rest(seconds / kYear, 'y', seconds % kYear / kDay, 'd');
  }
  shows(kYear);
  return fmt::format("{}y", seconds / kYear);
}

}  // namespace apimesh::meta
