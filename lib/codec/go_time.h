#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lib/base/result.h"

namespace apimesh::codec {

/// A point in time in any year that Go can format; system_clock ends in 2262.
struct GoTime {
  std::int64_t seconds = 0;  // since 1970
  std::int32_t nanos = 0;
  bool IsZero() const;  // Go's zero time: the beginning of year 1
};

/// Formats a time as RFC 3339 in UTC, with seconds or with microseconds.
std::string FormatGoTime(const GoTime& time, bool micro);

/// Parses a time as Go's time.Parse does with the layouts of metav1.Time and metav1.MicroTime. The error is Go's
/// message.
boost::system::result<GoTime, std::string> ParseGoTime(std::string_view text, bool micro);

}  // namespace apimesh::codec
