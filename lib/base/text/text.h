#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace apimesh {

/// Converts ASCII letters to lower case; other bytes are unchanged, regardless of the locale.
std::string LowerCase(std::string_view text);
/// Compares like LowerCase(a) == LowerCase(b), without copies.
bool EqualsIgnoreCase(std::string_view a, std::string_view b);

/// The parts between the separators, including empty ones: n separators make n + 1 parts. The parts refer to `text`.
std::vector<std::string_view> Split(std::string_view text, char separator);
/// The same as strings, but an empty text has no parts. List flags are parsed with this function.
std::vector<std::string> SplitList(std::string_view text, char separator = ',');

}  // namespace apimesh
