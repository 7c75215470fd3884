// Links: lib/encryption/config.cc lib/encryption/validate.cc codec
// The file belongs to an operator, but an invalid one must cause errors and not a crash.
#include <cstdint>

#include "lib/encryption/config.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto config = apimesh::encryption::ParseConfig({reinterpret_cast<const char*>(data), size});
  if (config) apimesh::encryption::Validate(*config, false);
  return 0;
}
