#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace apimesh {

std::string EncodeBase64(std::string_view bytes);
/// Decodes the standard alphabet with padding; line breaks are ignored, as in Go. Returns nullopt on success, otherwise
/// the position that Go reports in its error.
std::optional<std::size_t> DecodeBase64(std::string_view text, std::string& bytes);

/// base64url without padding (RFC 7515).
std::string EncodeBase64Url(std::string_view bytes);
/// Strict: no padding, no white space, no unused bits set in the last character.
std::optional<std::string> DecodeBase64Url(std::string_view text);
/// Decodes like Go's RawURLEncoding: line breaks are ignored, and so are unused bits. Returns nullopt on success,
/// otherwise the position that Go reports in its error.
std::optional<std::size_t> DecodeLenientBase64Url(std::string_view text, std::string& bytes);

}  // namespace apimesh
