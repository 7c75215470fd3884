#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace apimesh::codec {

void AppendUtf8(std::string& out, std::uint32_t rune);
/// The length of the valid sequence at `at`, or 0.
std::size_t Utf8Length(std::string_view text, std::size_t at);
bool IsValidUtf8(std::string_view text);
/// Every byte that is part of no valid sequence becomes U+FFFD, as in Go.
std::string RepairUtf8(std::string_view text);

}  // namespace apimesh::codec
