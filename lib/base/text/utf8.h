#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace apimesh {

void AppendUtf8(std::string& out, std::uint32_t rune);
/// The length of the valid sequence at `at`, or 0.
std::size_t Utf8Length(std::string_view text, std::size_t at);
bool IsValidUtf8(std::string_view text);
/// Replaces every byte that is not part of a valid sequence with U+FFFD, as in Go.
std::string RepairUtf8(std::string_view text);

}  // namespace apimesh
