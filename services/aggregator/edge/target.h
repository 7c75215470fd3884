#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace apimesh::aggregator {

struct Target {
  std::string path;   // decoded
  std::string query;  // raw
};
/// Takes a request target apart. Nullopt for whatever two programs could read differently: a bad escape, invalid UTF-8, a
/// control character, a "." or ".." segment, a fragment, no leading slash.
std::optional<Target> ParseTarget(std::string_view target);

}  // namespace apimesh::aggregator
