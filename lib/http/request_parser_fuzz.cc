// Feeds bytes to the request parser in pieces of odd sizes, as a connection does. No input may crash it, and the result
// must not depend on how the bytes were split.
#include <cstdlib>

#include "lib/gzip/accepts.h"
#include "lib/http/message_parser.h"

namespace apimesh::http {
namespace {

struct Outcome {
  ParseFailure failure;
  bool done;
  Request request;
  std::string body;
};

Outcome Parse(std::string_view input, std::size_t step) {
  Limits limits;
  limits.header_bytes = 4096;
  limits.body_bytes = 4096;
  RequestParser parser(limits);
  std::string buffer;
  while (!parser.Done() && parser.Failure() == ParseFailure::kNone && !input.empty()) {
    const std::string_view piece = input.substr(0, step);
    input.remove_prefix(piece.size());
    buffer += piece;
    if (!parser.HeadDone()) buffer.erase(0, parser.Feed(buffer));
    if (parser.HeadDone()) buffer.erase(0, parser.FeedBody(buffer, RequestParser::Body::kKeep));
  }
  std::string body = parser.TakeBody();
  if (body.size() > limits.body_bytes) std::abort();
  return {parser.Failure(), parser.Done(), parser.TakeRequest(), std::move(body)};
}

}  // namespace
}  // namespace apimesh::http

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace apimesh::http;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const Outcome whole = Parse(input, size + 1);
  const Outcome pieces = Parse(input, 3);
  if (whole.done && pieces.done && whole.body != pieces.body) std::abort();
  if (whole.done && pieces.done && whole.request.headers != pieces.request.headers) std::abort();
  apimesh::gzip::Accepts(whole.request.Header("accept-encoding"));
  return 0;
}
