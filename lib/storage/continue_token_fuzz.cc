// Clients can send any text as a continue token, so both the text and the JSON inside it are fuzzed. A token that
// decodes must encode to itself.
// Links: lib/storage/continue_token.cc meta
#include <cstdint>
#include <cstdlib>

#include "lib/storage/continue_token.h"

namespace {

void Check(std::string_view text) {
  using apimesh::storage::ContinueToken;
  const auto token = ContinueToken::Decode(text);
  if (!token) return;
  const auto again = ContinueToken::Decode(token->Encode());
  if (!again || again->start != token->start || again->revision != token->revision) std::abort();
  if (token->start.find("/../") != std::string::npos || token->start.starts_with("../")) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  Check(bytes);
  Check(apimesh::storage::ContinueToken{.revision = size > 0 ? data[0] - 1 : 0, .start = std::string(bytes)}.Encode());
  return 0;
}
