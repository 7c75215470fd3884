#pragma once

#include <chrono>
#include <string>

namespace apimesh {

/// Writes a duration in Go's format: "1m30s", "500ms", "1h0m0s", "0s".
std::string FormatDuration(std::chrono::milliseconds duration);

}  // namespace apimesh
