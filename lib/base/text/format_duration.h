#pragma once

#include <chrono>
#include <string>

namespace apimesh {

/// Writes a duration in Go's format: "1h0m0s", "1m30s", "500ms", "1.5µs", "0s".
std::string FormatDuration(std::chrono::nanoseconds duration);

}  // namespace apimesh
