// Accept and Content-Type are untrusted input. A type that is negotiated for a stream must support framing.
#include <cstdint>
#include <cstdlib>

#include "lib/codec/negotiation.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace apimesh::codec;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const Offer& offer : {Offer{true, true}, Offer{false, true}, Offer{true, false}}) {
    if (const auto output = NegotiateOutput(text, offer); output && !offer.transforms && !output->as.empty())
      std::abort();
    if (const auto stream = NegotiateStream(text, offer); stream && stream->format == Format::kYaml) std::abort();
    (void)NegotiateInput(text, offer);
  }
  NamesKnownType(text);
  WantsPretty("", text);
  return 0;
}
