#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace apimesh::aggregator {

struct Target {
  std::string path;   // decoded
  std::string query;  // raw
};
/// Parses a request target. Returns nullopt if two programs could interpret it differently: a bad escape, invalid
/// UTF-8, a control character, a "." or ".." segment, a fragment, or no leading slash.
std::optional<Target> ParseTarget(std::string_view target);

}  // namespace apimesh::aggregator
