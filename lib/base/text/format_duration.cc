#include "lib/base/text/format_duration.h"

#include <fmt/format.h>

namespace apimesh {
namespace {

constexpr std::uint64_t kMicrosecond = 1'000, kMillisecond = 1'000'000, kSecond = 1'000'000'000;

/// Writes a decimal fraction without zeros at its end. `digits`: how many digits of `value` are behind the point.
std::string Decimal(std::uint64_t value, std::uint64_t unit, int digits) {
  std::string text = fmt::format("{}", value / unit);
  if (value % unit == 0) return text;
  text += fmt::format(".{:0{}}", value % unit, digits);
  while (text.back() == '0') text.pop_back();
  return text;
}

}  // namespace

std::string FormatDuration(std::chrono::nanoseconds duration) {
  const std::int64_t all = duration.count();
  const std::string sign = all < 0 ? "-" : "";
  const std::uint64_t total = all < 0 ? -static_cast<std::uint64_t>(all) : static_cast<std::uint64_t>(all);
  if (total == 0) return "0s";
  if (total < kMicrosecond) return fmt::format("{}{}ns", sign, total);
  if (total < kMillisecond) return fmt::format("{}{}µs", sign, Decimal(total, kMicrosecond, 3));
  if (total < kSecond) return fmt::format("{}{}ms", sign, Decimal(total, kMillisecond, 6));
  const std::string seconds = Decimal(total % (60 * kSecond), kSecond, 9);
  const std::uint64_t minutes = total / kSecond / 60 % 60, hours = total / kSecond / 3600;
  if (hours != 0) return fmt::format("{}{}h{}m{}s", sign, hours, minutes, seconds);
  if (minutes != 0) return fmt::format("{}{}m{}s", sign, minutes, seconds);
  return fmt::format("{}{}s", sign, seconds);
}

}  // namespace apimesh
