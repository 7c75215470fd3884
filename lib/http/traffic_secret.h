#pragma once

#include <string>
#include <string_view>

namespace apimesh::http {

/// What TLS 1.3 makes of a traffic secret (RFC 8446, 7.2 and 7.3). The hash follows from the secret's size: 32 bytes are of SHA-256 and AES-128,
/// 48 of SHA-384 and AES-256.
std::string TrafficKey(std::string_view secret);
std::string TrafficIv(std::string_view secret);
/// The secret after the next KeyUpdate.
std::string NextTrafficSecret(std::string_view secret);

}  // namespace apimesh::http
