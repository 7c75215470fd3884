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

/// Each comma separates two values, and each collection that is not empty has one value more than commas.
std::size_t CountValues(std::string_view text) {
  std::size_t values = 1;
  for (std::size_t at = 0; at < text.size() && values <= kMaxBodyValues;) {
    switch (text[at++]) {
      case '"': at = SkipString(text, at); break;
      case ',': ++values; break;
      case '[':
      case '{': {
        const std::size_t next = std::min(text.find_first_not_of(kSpace, at), text.size());
        if (next < text.size() && text[next] != ']' && text[next] != '}') ++values;
        break;
      }
      default: break;
    }
  }
  return values;
}

}  // namespace

codec::ParseLimits BodyLimits() {
  codec::ParseLimits limits;
  limits.yaml_nodes = kMaxBodyNodes;
  return limits;
}

meta::Result<> CheckBodyValues(std::string_view body) {
  if (body.size() < 2 * kMaxBodyValues || CountValues(body) <= kMaxBodyValues) return {};
  return meta::RequestEntityTooLarge(fmt::format("limit is {} JSON values", kMaxBodyValues));
}

}  // namespace apimesh::endpoint
