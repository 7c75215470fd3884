// Links: lib/http/message_parser.cc meta
// Webhooks and external API servers may respond with arbitrary bytes. No bytes may crash the parser, and the body of a
// complete message must not depend on how its bytes were split.
#include <cstdlib>

#include "lib/http/message_parser.h"

namespace apimesh::http {
namespace {

struct Outcome {
  bool failed, done;
  int code;
  Headers headers;
  std::string body;
};

Outcome Parse(std::string_view input, bool answers_head, std::size_t step) {
  Outcome outcome{};
  ResponseParser parser(answers_head, 4096, [&](std::string_view piece) { outcome.body += piece; });
  std::string buffer;
  while (!parser.Done() && !parser.Failed() && !input.empty()) {
    const std::string_view piece = input.substr(0, step);
    input.remove_prefix(piece.size());
    buffer += piece;
    buffer.erase(0, parser.Feed(buffer));
  }
  outcome.done = parser.Done() || (!parser.Failed() && parser.FeedEnd());
  outcome.failed = parser.Failed();
  outcome.code = parser.Code();
  outcome.headers = parser.TakeHeaders();
  return outcome;
}

}  // namespace
}  // namespace apimesh::http

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace apimesh::http;
  if (size == 0) return 0;
  const bool answers_head = (data[0] & 1) != 0;
  const std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Outcome whole = Parse(input, answers_head, size);
  const Outcome pieces = Parse(input, answers_head, 3);
  if (whole.done && pieces.done &&
      (whole.body != pieces.body || whole.headers != pieces.headers || whole.code != pieces.code)) {
    std::abort();
  }
  return 0;
}
