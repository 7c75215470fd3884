#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace apimesh::cel {

/// The contents of a string or bytes literal with its quotes and without the prefix "b". In bytes, \x and octal escapes
/// are bytes, otherwise they are code points. On failure, returns nothing and sets `error`.
std::optional<std::string> Unescape(std::string_view literal, bool bytes, std::string& error);

}  // namespace apimesh::cel
