#pragma once

#include "lib/encryption/transformer.h"

namespace apimesh::encryption {

/// Keys have 16, 24 or 32 bytes. The value is a random nonce of 12 bytes, the ciphertext and a tag of 16 bytes.
TransformerPtr AesGcm(std::string key);
/// Keys have 16, 24 or 32 bytes. The value is a random IV of 16 bytes and the ciphertext with PKCS#7 padding.
TransformerPtr AesCbc(std::string key);
/// XSalsa20-Poly1305 with a key of 32 bytes. The value is a random nonce of 24 bytes, the tag and the ciphertext.
TransformerPtr Secretbox(std::string key);
/// AES-GCM with a separate key for every value: HKDF-SHA256 expands `seed` with 32 random bytes, with which the value
/// begins.
TransformerPtr SeededAesGcm(std::string seed);

std::string RandomBytes(std::size_t count);

}  // namespace apimesh::encryption
