#pragma once

#include <string_view>

namespace apimesh {

/// Returns `text` without the ASCII white space around it, as strings.TrimSpace() of Go does.
inline std::string_view TrimSpace(std::string_view text) {
  constexpr std::string_view kSpace = " \t\n\v\f\r";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

}  // namespace apimesh
