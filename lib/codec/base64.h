#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace apimesh::codec {

std::string EncodeBase64(std::string_view bytes);
/// Standard alphabet with padding; line breaks are ignored, as in Go. nullopt: decoded. Otherwise the position Go complains about.
std::optional<std::size_t> DecodeBase64(std::string_view text, std::string& bytes);

}  // namespace apimesh::codec
