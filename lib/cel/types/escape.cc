#include <algorithm>
#include <array>
#include <optional>

#include "lib/cel/types/shape.h"

namespace apimesh::cel {
namespace {

constexpr std::string_view kReserved[] = {"true",     "false",   "null",      "in",       "as",  "break",  "const",
                                          "continue", "else",    "for",       "function", "if",  "import", "let",
                                          "loop",     "package", "namespace", "return",   "var", "void",   "while"};

bool IsWord(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

}  // namespace

bool IsReserved(std::string_view name) {
  return std::find(std::begin(kReserved), std::end(kReserved), name) != std::end(kReserved);
}

std::optional<std::string> EscapeName(std::string_view name) {
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return std::nullopt;
  if (IsReserved(name)) return "__" + std::string(name) + "__";
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name.substr(i, 2) == "__") {
      out += "__underscores__";
      ++i;
    } else if (name[i] == '.') {
      out += "__dot__";
    } else if (name[i] == '-') {
      out += "__dash__";
    } else if (name[i] == '/') {
      out += "__slash__";
    } else if (IsWord(name[i])) {
      out += name[i];
    } else {
      return std::nullopt;
    }
  }
  return out;
}

std::optional<std::string> UnescapeName(std::string_view identifier) {
  std::string out;
  for (std::size_t i = 0; i < identifier.size();) {
    // An escape sequence is "__", characters other than "_", "__".
    const std::size_t end = identifier.substr(i, 2) == "__" ? identifier.find('_', i + 2) : std::string_view::npos;
    if (end == std::string_view::npos || end == i + 2 || identifier.substr(end, 2) != "__") {
      out += identifier[i++];
      continue;
    }
    const std::string_view word = identifier.substr(i + 2, end - i - 2);
    if (word == "underscores") {
      out += "__";
    } else if (word == "dot") {
      out += '.';
    } else if (word == "dash") {
      out += '-';
    } else if (word == "slash") {
      out += '/';
    } else if (IsReserved(word) && word.size() + 4 == identifier.size()) {
      out += word;
    } else {
      return std::nullopt;
    }
    i = end + 2;
  }
  return out;
}

}  // namespace apimesh::cel
