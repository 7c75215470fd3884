#include "services/aggregator/filters/duration.h"

#include <charconv>
#include <cmath>

namespace apimesh::aggregator {

std::optional<std::chrono::nanoseconds> ParseGoDuration(std::string_view text) {
  struct Unit {
    std::string_view name;
    double nanoseconds;
  };
  // Longer names first: "ms" begins like "m".
  constexpr Unit kUnits[] = {{"ns", 1}, {"us", 1e3}, {"µs", 1e3}, {"μs", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}};
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text == "0") return std::chrono::nanoseconds(0);
  if (text.empty()) return std::nullopt;
  double total = 0;
  while (!text.empty()) {
    if (text.front() != '.' && (text.front() < '0' || text.front() > '9')) return std::nullopt;
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
    if (error != std::errc()) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    const Unit* unit = nullptr;
    for (const Unit& candidate : kUnits) {
      if (text.starts_with(candidate.name)) {
        unit = &candidate;
        break;
      }
    }
    if (unit == nullptr) return std::nullopt;
    text.remove_prefix(unit->name.size());
    total += number * unit->nanoseconds;
  }
  if (total > 9.2e18) return std::nullopt;
  return std::chrono::nanoseconds(std::llround(negative ? -total : total));
}

}  // namespace apimesh::aggregator
