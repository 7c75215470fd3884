#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>

namespace apimesh::core_api {

/// The numbers of a semantic version. The order of pre-releases is not needed.
struct Version {
  std::uint64_t major = 0, minor = 0, patch = 0;
  auto operator<=>(const Version&) const = default;
};

/// Returns nullopt if the text is not a semantic version.
std::optional<Version> ParseVersion(std::string_view text);

}  // namespace apimesh::core_api
