#include "lib/cel/time_text.h"

#include <cmath>

#include "lib/meta/time.h"

namespace apimesh::cel {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

// The fraction of a second without its trailing zeros, with the dot; "" if there is none.
std::string Fraction(std::int64_t nanoseconds) {
  if (nanoseconds == 0) return "";
  std::string digits = fmt::format(".{:09}", nanoseconds);
  while (digits.back() == '0') digits.pop_back();
  return digits;
}

struct Unit {
  std::string_view name;
  double nanoseconds;
};
// Longer names first: "ms" before "m".
constexpr Unit kUnits[] = {{"ms", 1e6}, {"us", 1e3}, {"µs", 1e3}, {"ns", 1}, {"h", 3.6e12}, {"m", 6e10}, {"s", 1e9}};

}  // namespace

std::string TimestampText(std::int64_t nanoseconds) {
  std::int64_t seconds = nanoseconds / kSecond, rest = nanoseconds % kSecond;
  if (rest < 0) {
    --seconds;
    rest += kSecond;
  }
  std::string text = meta::FormatTime(WallTime(std::chrono::seconds(seconds)));
  text.insert(text.size() - 1, Fraction(rest));
  return text;
}

std::optional<std::int64_t> ParseTimestamp(std::string_view text) {
  const auto time = meta::ParseTime(text);
  if (!time) return std::nullopt;
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time->time_since_epoch()).count();
}

std::string DurationText(std::int64_t nanoseconds) {
  const bool negative = nanoseconds < 0;
  const std::uint64_t all =
      negative ? 0 - static_cast<std::uint64_t>(nanoseconds) : static_cast<std::uint64_t>(nanoseconds);
  return fmt::format("{}{}{}s", negative ? "-" : "", all / kSecond, Fraction(static_cast<std::int64_t>(all % kSecond)));
}

std::optional<std::int64_t> ParseDuration(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text == "0") return 0;
  if (text.empty()) return std::nullopt;
  double total = 0;
  while (!text.empty()) {
    std::size_t size = 0;
    bool dot = false, digit = false;
    for (; size < text.size(); ++size) {
      if (text[size] == '.' && !dot) {
        dot = true;
      } else if (text[size] >= '0' && text[size] <= '9') {
        digit = true;
      } else {
        break;
      }
    }
    if (!digit || size > 32) return std::nullopt;
    const double number = std::strtod(std::string(text.substr(0, size)).c_str(), nullptr);
    text.remove_prefix(size);
    const Unit* unit =
        std::find_if(std::begin(kUnits), std::end(kUnits), [&](const Unit& u) { return text.starts_with(u.name); });
    if (unit == std::end(kUnits)) return std::nullopt;
    total += number * unit->nanoseconds;
    text.remove_prefix(unit->name.size());
  }
  if (total > 9.2e18) return std::nullopt;
  return std::llround(negative ? -total : total);
}

}  // namespace apimesh::cel
