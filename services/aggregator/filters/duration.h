#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace apimesh::aggregator {

/// "1m30s", "1.5h", "250ms" as Go's time.ParseDuration reads them; nullopt if it is not that.
std::optional<std::chrono::nanoseconds> ParseGoDuration(std::string_view text);

}  // namespace apimesh::aggregator
