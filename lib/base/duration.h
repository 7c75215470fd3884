#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace apimesh {

/// "1m30s", "500ms", "1h0m0s" as Go writes durations; nullopt if it is not one.
std::optional<std::chrono::milliseconds> ParseDuration(std::string_view text);

}  // namespace apimesh
