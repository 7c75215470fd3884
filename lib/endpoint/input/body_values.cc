#include "lib/endpoint/input/body_values.h"

#include <algorithm>

#include <fmt/format.h>

namespace apimesh::endpoint {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

/// Returns the position after the string that begins before `at`.
std::size_t SkipString(std::string_view text, std::size_t at) {
  while (true) {
    at = text.find('"', at);
    if (at == std::string_view::npos) return text.size();
    std::size_t backslashes = 0;
    while (text[at - 1 - backslashes] == '\\') ++backslashes;  // ends at the first quote
    ++at;
    if (backslashes % 2 == 0) return at;
  }
}

struct Counts {
  std::size_t values = 1, keys = 0;
  bool Allowed() const { return values <= kMaxBodyValues && keys <= kMaxBodyKeys; }
};

/// Each comma separates two values, and each collection that is not empty has one value more than commas. Each colon
/// outside of a text follows a key.
Counts CountValues(std::string_view text) {
  Counts counts;
  for (std::size_t at = 0; at < text.size() && counts.Allowed();) {
    switch (text[at++]) {
      case '"': at = SkipString(text, at); break;
      case ',': ++counts.values; break;
      case ':': ++counts.keys; break;
      case '[':
      case '{': {
        const std::size_t next = std::min(text.find_first_not_of(kSpace, at), text.size());
        if (next < text.size() && text[next] != ']' && text[next] != '}') ++counts.values;
        break;
      }
      default: break;
    }
  }
  return counts;
}

}  // namespace

codec::ParseLimits BodyLimits() {
  codec::ParseLimits limits;
  limits.yaml_nodes = kMaxBodyNodes;
  return limits;
}

meta::Result<> CheckBodyValues(std::string_view body) {
  constexpr std::size_t kLeastBytes = std::min(2 * kMaxBodyValues, 5 * kMaxBodyKeys);  // "1," and "\"\":1,"
  if (body.size() < kLeastBytes) return {};
  const Counts counts = CountValues(body);
  if (counts.Allowed()) return {};
  return meta::RequestEntityTooLarge(counts.keys > kMaxBodyKeys
                                         ? fmt::format("limit is {} JSON keys", kMaxBodyKeys)
                                         : fmt::format("limit is {} JSON values", kMaxBodyValues));
}

}  // namespace apimesh::endpoint
