#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/flags/flag.h"

namespace apimesh::launcher {

using flags::Flag;
using flags::FlagType;

/// Returns the error of a flag's value, with kube-apiserver's text; empty if the value has the flag's type. Changes
/// booleans and integers to their usual spelling in place.
std::string ValueError(const Flag& flag, std::string& value);

/// Parses a Go duration such as "1m30s" to nanoseconds; nullopt if the text is not a duration.
std::optional<std::int64_t> ParseGoDuration(std::string_view text);

/// The first and last port of "30000-32767", "30000+100" or "30000". An empty text is the range without ports, {0, -1}.
struct PortRange {
  int low = 0, high = -1;
};
std::optional<PortRange> ParsePortRange(std::string_view text);

/// Returns whether the text is an IPv4 or IPv6 address.
bool IsIp(const std::string& text);

}  // namespace apimesh::launcher
