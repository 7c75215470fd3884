#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace apimesh::cel {

/// RFC 3339, with a fraction if there is one.
std::string TimestampText(std::int64_t nanoseconds);
std::optional<std::int64_t> ParseTimestamp(std::string_view text);
/// Seconds: "5400s", "0.5s".
std::string DurationText(std::int64_t nanoseconds);
/// "1h30m", "-1.5s", "100ms" …; nullopt if malformed or beyond what 64 bits of nanoseconds hold.
std::optional<std::int64_t> ParseDuration(std::string_view text);

}  // namespace apimesh::cel
