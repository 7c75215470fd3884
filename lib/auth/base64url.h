#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace apimesh::auth {

/// base64url without padding (RFC 7515).
std::string EncodeBase64Url(std::string_view bytes);
/// Strict: no padding, no white space, no stray bits in the last character.
std::optional<std::string> DecodeBase64Url(std::string_view text);
/// The common alphabet with padding: how Secrets hold their data.
std::optional<std::string> DecodeBase64(std::string_view text);

}  // namespace apimesh::auth
