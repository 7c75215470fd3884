#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace apimesh {

/// Parses a duration in Go's format: "1m30s", "500ms", "1h0m0s"; nullopt if it is invalid.
std::optional<std::chrono::milliseconds> ParseDuration(std::string_view text);

}  // namespace apimesh
