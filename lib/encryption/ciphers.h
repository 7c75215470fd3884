#pragma once

#include "lib/encryption/transformer.h"

namespace apimesh::encryption {

/// Keys of 16, 24 or 32 bytes. A random nonce of 12 bytes, then the ciphertext and its tag of 16.
TransformerPtr AesGcm(std::string key);
/// Keys of 16, 24 or 32 bytes. A random IV of 16 bytes, then the ciphertext, padded by PKCS#7.
TransformerPtr AesCbc(std::string key);
/// XSalsa20-Poly1305 with a key of 32 bytes. A random nonce of 24 bytes, then tag and ciphertext.
TransformerPtr Secretbox(std::string key);
/// AES-GCM with a key of its own for every value: HKDF-SHA256 expands `seed` with 32 random bytes, which come first.
TransformerPtr SeededAesGcm(std::string seed);

std::string RandomBytes(std::size_t count);

}  // namespace apimesh::encryption
