#pragma once

#include <string>
#include <string_view>

namespace apimesh::net {

/// The key and IV that TLS 1.3 derives from a traffic secret (RFC 8446, 7.2 and 7.3). The size of the secret determines
/// the hash and cipher: 32 bytes for SHA-256 and AES-128, 48 bytes for SHA-384 and AES-256.
std::string TrafficKey(std::string_view secret);
std::string TrafficIv(std::string_view secret);
/// The secret after the next KeyUpdate.
std::string NextTrafficSecret(std::string_view secret);

}  // namespace apimesh::net
