#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "services/launcher/flags/flag_table.h"

namespace apimesh::launcher {

/// What is wrong with the value of a flag, in the words of kube-apiserver; empty if the value has the flag's type.
/// Brings booleans and
/// integers into their usual spelling in place.
std::string ValueError(const Flag& flag, std::string& value);

/// Without white space at both ends.
std::string Trimmed(std::string_view text);

/// The elements of a comma-separated list. An empty text is an empty list; empty elements are kept, because kube-
/// apiserver keeps them.
std::vector<std::string> SplitAtCommas(std::string_view text);

/// "1m30s" in the syntax of Go, in nanoseconds; nullopt if it is none.
std::optional<std::int64_t> ParseGoDuration(std::string_view text);

/// First and last port of "30000-32767", "30000+100" or "30000"; an empty text is the range that has no ports, {0, -1}.
struct PortRange {
  int low = 0, high = -1;
};
std::optional<PortRange> ParsePortRange(std::string_view text);

/// An IPv4 or IPv6 address.
bool IsIp(const std::string& text);

}  // namespace apimesh::launcher
