#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "lib/base/clock.h"

/// Time as the API writes it.
namespace apimesh::meta {

/// metav1.Time: "2026-11-16T03:06:27Z". Fractions are cut off.
std::string FormatTime(WallTime time);
/// metav1.MicroTime: "2026-11-16T03:06:27.000000Z".
std::string FormatMicroTime(WallTime time);
/// RFC 3339 with any offset and any fraction; nullopt if it is not that.
std::optional<WallTime> ParseTime(std::string_view text);

/// Time spans as the Age columns show them, with two or three significant figures: "119s", "5m30s", "3d4h", "2y150d".
/// `until` (may be nullptr) gets the next longer span with another text; the longest there is: none has. Ages: see ages.h.
std::string HumanDuration(std::chrono::nanoseconds duration, std::chrono::nanoseconds* until = nullptr);

}  // namespace apimesh::meta
