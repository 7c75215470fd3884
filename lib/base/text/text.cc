#include "lib/base/text/text.h"

namespace apimesh {

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  }
  return lower;
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::vector<std::string> SplitList(std::string_view text, char separator) {
  if (text.empty()) return {};
  const std::vector<std::string_view> parts = Split(text, separator);
  return {parts.begin(), parts.end()};
}

}  // namespace apimesh
