#include "lib/base/text/format_duration.h"

#include <fmt/format.h>

namespace apimesh {

std::string FormatDuration(std::chrono::milliseconds duration) {
  const std::int64_t all = duration.count();
  const std::string sign = all < 0 ? "-" : "";
  const std::uint64_t total = all < 0 ? -static_cast<std::uint64_t>(all) : static_cast<std::uint64_t>(all);
  if (total == 0) return "0s";
  if (total < 1000) return fmt::format("{}{}ms", sign, total);
  std::string seconds = fmt::format("{}", total / 1000 % 60);
  if (const std::uint64_t rest = total % 1000; rest != 0) {
    std::string fraction = fmt::format("{:03}", rest);
    while (fraction.back() == '0') fraction.pop_back();
    seconds += "." + fraction;
  }
  const std::uint64_t minutes = total / 60'000 % 60, hours = total / 3'600'000;
  if (hours != 0) return fmt::format("{}{}h{}m{}s", sign, hours, minutes, seconds);
  if (minutes != 0) return fmt::format("{}{}m{}s", sign, minutes, seconds);
  return fmt::format("{}{}s", sign, seconds);
}

}  // namespace apimesh
