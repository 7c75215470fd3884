// A server may answer with arbitrary bytes. No bytes may crash the session or make it keep more than its limits allow,
// and what the session reports must not depend on how the bytes were split.
#include <cstdlib>

#include "lib/spdy/client_session.h"

namespace apimesh::spdy {
namespace {

struct Outcome {
  std::string events;  // without data
  std::map<std::uint32_t, std::string> data;
  std::string output, error;
  bool operator==(const Outcome&) const = default;
};

Outcome Run(std::string_view input, std::size_t step) {
  const Limits limits{.control_bytes = 1024, .header_bytes = 4096, .header_fields = 16, .reply_bytes = 256};
  ClientSession session(limits);
  session.Open({{"streamtype", "error"}});
  session.Open({{"streamtype", "stdout"}});
  session.Ping();
  Outcome outcome;
  while (!input.empty()) {
    std::string_view piece = input.substr(0, step);
    input.remove_prefix(piece.size());
    while (const std::optional<Event> event = session.Next(piece)) {
      outcome.data[event->stream] += event->data;
      if (event->kind == Event::Kind::kData) continue;
      outcome.events += std::to_string(static_cast<int>(event->kind)) + (event->reset ? "r" : "") +
                        std::to_string(event->stream) + " ";
    }
    if (!session.Error().empty()) break;
  }
  outcome.error = session.Error();
  outcome.output = session.TakeOutput();
  if (outcome.output.size() > 1024) std::abort();
  return outcome;
}

}  // namespace
}  // namespace apimesh::spdy

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace apimesh::spdy;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  if (Run(input, size) != Run(input, 3)) std::abort();
  return 0;
}
