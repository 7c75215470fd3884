#include <cstddef>
#include <cstdint>

#include "lib/credentials/jwt.h"
#include "lib/credentials/test_keys.h"

// Tokens are untrusted input: parsing and verifying must neither crash nor accept invalid tokens.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace apimesh::credentials;
  static const PublicKey rsa = PublicKey::FromPem(test_keys::kRsaPem)->front();
  static const PublicKey ec = PublicKey::FromPem(test_keys::kEcPem)->front();
  const auto jwt = Jwt::Parse({reinterpret_cast<const char*>(data), size});
  if (!jwt) return 0;
  jwt->Audiences();
  CheckTimes(*jwt, apimesh::WallTime());
  if (jwt->Verify(rsa) || jwt->Verify(ec)) __builtin_trap();
  return 0;
}
