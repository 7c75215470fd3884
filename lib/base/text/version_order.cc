#include "lib/base/text/version_order.h"

#include <charconv>
#include <string>
#include <tuple>

namespace apimesh {
namespace {

struct Parsed {
  int stability = -1;  // 2: stable, 1: beta, 0: alpha, -1: not a Kubernetes version name
  int major = 0;
  int minor = 0;
};

bool ReadNumber(std::string_view& text, int& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

Parsed Parse(std::string_view text) {
  Parsed parsed;
  if (!text.starts_with('v')) return {};
  text.remove_prefix(1);
  if (!ReadNumber(text, parsed.major)) return {};
  if (text.empty()) {
    parsed.stability = 2;
    return parsed;
  }
  const bool beta = text.starts_with("beta");
  if (!beta && !text.starts_with("alpha")) return {};
  text.remove_prefix(beta ? 4 : 5);
  if (!ReadNumber(text, parsed.minor) || !text.empty()) return {};
  parsed.stability = beta ? 1 : 0;
  return parsed;
}

}  // namespace

bool VersionComesBefore(std::string_view a, std::string_view b) {
  const Parsed left = Parse(a), right = Parse(b);
  const auto rank = [](const Parsed& parsed) { return std::tuple(parsed.stability, parsed.major, parsed.minor); };
  if (rank(left) != rank(right)) return rank(left) > rank(right);
  return a < b;
}

}  // namespace apimesh
