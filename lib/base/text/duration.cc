#include "lib/base/text/duration.h"

#include <algorithm>
#include <charconv>

namespace apimesh {

std::optional<std::chrono::milliseconds> ParseDuration(std::string_view text) {
  struct Unit {
    std::string_view name;
    double milliseconds;
  };
  // Longer names are first, so that "ms" is not parsed as "m".
  static constexpr Unit kUnits[] = {{"ms", 1},        {"us", 1e-3},  {"ns", 1e-6},
                                    {"h", 3'600'000}, {"m", 60'000}, {"s", 1000}};
  if (text == "0") return std::chrono::milliseconds(0);
  if (text.empty()) return std::nullopt;
  double total = 0;
  while (!text.empty()) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
    if (error != std::errc() || value < 0) return std::nullopt;
    text.remove_prefix(end - text.data());
    const auto unit = std::find_if(std::begin(kUnits), std::end(kUnits),
                                   [text](const Unit& candidate) { return text.starts_with(candidate.name); });
    if (unit == std::end(kUnits)) return std::nullopt;
    text.remove_prefix(unit->name.size());
    total += value * unit->milliseconds;
  }
  // Go's durations are 64-bit nanoseconds. The condition is negated so that NaN is refused as well.
  constexpr double kLongest = 9'223'372'036'854;
  if (!(total <= kLongest)) return std::nullopt;
  return std::chrono::milliseconds(static_cast<std::int64_t>(total));
}

}  // namespace apimesh
