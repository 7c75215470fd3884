#include "lib/cel/value/time.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "lib/cel/value/text.h"

namespace apimesh::cel {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000, kDay = 86'400;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Reads a number of `digits` digits at the start of `text`; if `flexible`, one digit less is enough.
std::optional<int> Number(std::string_view& text, std::size_t digits, bool flexible = false) {
  int out = 0;
  std::size_t i = 0;
  for (; i < digits && i < text.size() && IsDigit(text[i]); ++i) out = out * 10 + (text[i] - '0');
  if (i != digits && !(flexible && i + 1 == digits && i > 0)) return std::nullopt;
  text.remove_prefix(i);
  return out;
}

bool Skip(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

int DaysInMonth(int year, int month) {
  constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return month == 2 && leap ? 29 : kDays[month - 1];
}

// Reads "2026-01-02" and returns days since 1970.
std::optional<std::int64_t> Date(std::string_view& text) {
  const auto year = Number(text, 4);
  if (!year || !Skip(text, '-')) return std::nullopt;
  const auto month = Number(text, 2);
  if (!month || *month < 1 || *month > 12 || !Skip(text, '-')) return std::nullopt;
  const auto day = Number(text, 2);
  if (!day || *day < 1 || *day > DaysInMonth(*year, *month)) return std::nullopt;
  return DaysFromCivil(*year, *month, *day);
}

// Reads ".678" or nothing and returns nanoseconds. Digits after the ninth are ignored.
std::int32_t Fraction(std::string_view& text) {
  if (text.size() < 2 || (text[0] != '.' && text[0] != ',') || !IsDigit(text[1])) return 0;
  std::int32_t nanos = 0, unit = 100'000'000;
  text.remove_prefix(1);
  for (; !text.empty() && IsDigit(text[0]); text.remove_prefix(1), unit /= 10) nanos += (text[0] - '0') * unit;
  return nanos;
}

// Reads "Z" or "+02:00" and returns seconds.
std::optional<std::int32_t> Offset(std::string_view& text) {
  if (Skip(text, 'Z')) return 0;
  const bool negative = text.starts_with('-');
  if (!Skip(text, '+') && !Skip(text, '-')) return std::nullopt;
  const auto hours = Number(text, 2);
  if (!hours || *hours > 24 || !Skip(text, ':')) return std::nullopt;
  const auto minutes = Number(text, 2);
  if (!minutes || *minutes >= 60) return std::nullopt;
  const std::int32_t seconds = *hours * 3600 + *minutes * 60;
  return negative ? -seconds : seconds;
}

std::string FractionText(std::uint64_t nanos) {
  if (nanos == 0) return "";
  std::string digits = fmt::format(".{:09}", nanos);
  while (digits.back() == '0') digits.pop_back();
  return digits;
}

struct Unit {
  std::string_view name;
  std::uint64_t nanoseconds;
};
// Longer names come first: "ms" before "m". Go accepts both code points for µ.
constexpr Unit kUnits[] = {{"ms", 1'000'000},     {"us", 1'000},       {"µs", 1'000},
                           {"μs", 1'000},         {"ns", 1},           {"h", 3'600'000'000'000},
                           {"m", 60'000'000'000}, {"s", 1'000'000'000}};

// Reads "1.5h" and adds it to `total`, which must not exceed 2^63.
bool AddPart(std::string_view& text, std::uint64_t& total) {
  constexpr std::uint64_t kLimit = std::uint64_t{1} << 63;
  std::uint64_t whole = 0;
  bool any = false;
  for (; !text.empty() && IsDigit(text[0]); text.remove_prefix(1), any = true) {
    if (whole > kLimit / 10) return false;
    whole = whole * 10 + static_cast<std::uint64_t>(text[0] - '0');
    if (whole > kLimit) return false;
  }
  double fraction = 0, scale = 1;
  if (Skip(text, '.')) {
    // Go stops to add digits where they no longer fit, and so does this.
    std::uint64_t digits = 0;
    for (bool full = false; !text.empty() && IsDigit(text[0]); text.remove_prefix(1), any = true) {
      full = full || digits > (kLimit - 1) / 10;
      if (full) continue;
      digits = digits * 10 + static_cast<std::uint64_t>(text[0] - '0');
      scale *= 10;
    }
    fraction = static_cast<double>(digits);
  }
  if (!any) return false;
  const Unit* unit =
      std::find_if(std::begin(kUnits), std::end(kUnits), [&](const Unit& u) { return text.starts_with(u.name); });
  if (unit == std::end(kUnits)) return false;
  text.remove_prefix(unit->name.size());
  if (!text.empty() && !IsDigit(text[0]) && text[0] != '.')
    return false;  // an unknown unit that begins like a known one
  if (whole > kLimit / unit->nanoseconds) return false;
  whole *= unit->nanoseconds;
  if (fraction > 0) whole += static_cast<std::uint64_t>(fraction * (static_cast<double>(unit->nanoseconds) / scale));
  total += whole;
  return whole <= kLimit && total <= kLimit;
}

}  // namespace

std::int64_t DaysFromCivil(std::int64_t year, int month, int day) {
  // Counts years from March, so that the leap day is the last day of a year.
  year -= month <= 2;
  const std::int64_t era = (year >= 0 ? year : year - 399) / 400;
  const std::int64_t year_of_era = year - era * 400;
  const std::int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719468;
}

CivilTime ToCivil(std::int64_t seconds) {
  std::int64_t days = seconds / kDay, rest = seconds % kDay;
  if (rest < 0) {
    --days;
    rest += kDay;
  }
  const std::int64_t shifted = days + 719468;
  const std::int64_t era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
  const std::int64_t day_of_era = shifted - era * 146097;
  const std::int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const std::int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int month_from_march = static_cast<int>((5 * day_of_year + 2) / 153);
  CivilTime out{};
  out.day = static_cast<int>(day_of_year) - (153 * month_from_march + 2) / 5 + 1;
  out.month = month_from_march + (month_from_march < 10 ? 3 : -9);
  out.year = year_of_era + era * 400 + (out.month <= 2);
  out.day_of_year = static_cast<int>(days - DaysFromCivil(out.year, 1, 1));
  out.weekday = static_cast<int>(((days + 4) % 7 + 7) % 7);
  out.hour = static_cast<int>(rest / 3600);
  out.minute = static_cast<int>(rest / 60 % 60);
  out.second = static_cast<int>(rest % 60);
  return out;
}

std::optional<Value> ParseTimestamp(std::string_view text) {
  const auto days = Date(text);
  if (!days || !Skip(text, 'T')) return std::nullopt;
  const auto hour = Number(text, 2, true);
  if (!hour || *hour >= 24 || !Skip(text, ':')) return std::nullopt;
  const auto minute = Number(text, 2);
  if (!minute || *minute >= 60 || !Skip(text, ':')) return std::nullopt;
  const auto second = Number(text, 2);
  if (!second || *second >= 60) return std::nullopt;
  const std::int32_t nanos = Fraction(text);
  const auto offset = Offset(text);
  if (!offset || !text.empty()) return std::nullopt;
  return Value::Timestamp(*days * kDay + *hour * 3600 + *minute * 60 + *second - *offset, nanos, *offset);
}

std::optional<Value> ParseDate(std::string_view text) {
  const auto days = Date(text);
  if (!days || !text.empty()) return std::nullopt;
  return Value::Timestamp(*days * kDay, 0);
}

std::optional<std::int64_t> ParseDuration(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text == "0") return 0;
  if (text.empty()) return std::nullopt;
  std::uint64_t total = 0;
  while (!text.empty()) {
    if (!AddPart(text, total)) return std::nullopt;
  }
  if (negative) return static_cast<std::int64_t>(0 - total);
  if (total > INT64_MAX) return std::nullopt;
  return static_cast<std::int64_t>(total);
}

std::string TimestampToText(const Value& timestamp) {
  const std::int32_t offset = timestamp.Offset();
  const CivilTime t = ToCivil(timestamp.AsInt() + offset);
  const std::string zone = offset == 0 ? "Z"
                                       : fmt::format("{}{:02}:{:02}", offset < 0 ? '-' : '+', std::abs(offset) / 3600,
                                                     std::abs(offset) / 60 % 60);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}{}{}", t.year, t.month, t.day, t.hour, t.minute, t.second,
                     FractionText(static_cast<std::uint64_t>(timestamp.Nanos())), zone);
}

std::string DurationToText(std::int64_t nanoseconds) {
  // The number of seconds is a double, as in kube-apiserver.
  const double seconds = static_cast<double>(nanoseconds / kSecond) + static_cast<double>(nanoseconds % kSecond) / 1e9;
  return DoubleToFixed(seconds) + "s";
}

}  // namespace apimesh::cel
