#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "lib/base/clock.h"

/// Times in the text formats of the Kubernetes API.
namespace apimesh::meta {

/// metav1.Time: "2026-11-16T03:06:27Z". Fractions of a second are truncated.
std::string FormatTime(WallTime time);
/// metav1.MicroTime: "2026-11-16T03:06:27.000000Z".
std::string FormatMicroTime(WallTime time);
/// Parses RFC 3339 with any offset and any fraction; returns nullopt for other text.
std::optional<WallTime> ParseTime(std::string_view text);

/// Time spans as the Age columns show them, with two or three significant figures: "119s", "5m30s", "3d4h", "2y150d".
/// `until` (may be nullptr) is set to the next longer span that has another text, or to the maximum if there is none.
/// For ages, see ages.h.
std::string HumanDuration(std::chrono::nanoseconds duration, std::chrono::nanoseconds* until = nullptr);

}  // namespace apimesh::meta
