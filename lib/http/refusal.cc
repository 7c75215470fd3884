#include "lib/http/refusal.h"

#include <stdexcept>

#include <boost/beast/http/status.hpp>
#include <fmt/format.h>

#include "lib/http/server.h"

namespace apimesh::http {

int Refusal::Code() const {
  switch (cause) {
    case Cause::kMalformed: return 400;
    case Cause::kHeadTooLarge: return 431;
    case Cause::kTransferEncoding: return 501;
    case Cause::kBodyTooLarge: return 413;
    case Cause::kNoMemory: return 429;
    case Cause::kBodyTimedOut: return 504;
    case Cause::kBodyBroken: return 400;
    case Cause::kNotAnswered: return 500;
  }
  return 500;
}

void throw_exception_from_error(const Refusal& refusal, const boost::source_location& /*where*/) {
  throw std::runtime_error(PlainRefusalBody(refusal).text);
}

RefusalBody PlainRefusalBody(const Refusal& refusal) {
  const auto reason = boost::beast::http::obsolete_reason(static_cast<boost::beast::http::status>(refusal.Code()));
  std::string text = fmt::format("{} {}", refusal.Code(), std::string_view(reason.data(), reason.size()));
  if (!refusal.detail.empty()) text += ": " + refusal.detail;
  return {.content_type = "text/plain; charset=utf-8", .text = std::move(text)};
}

Task<bool> SendRefusal(ResponseWriter& writer, const Refusal& refusal, const RefusalBodyFn& body) {
  RefusalBody made = body(refusal);
  Headers headers{{"content-type", std::move(made.content_type)}};
  if (const int seconds = refusal.RetryAfterSeconds()) headers.emplace_back("retry-after", std::to_string(seconds));
  std::vector<SharedBytes> pieces;
  pieces.emplace_back(std::move(made.text));
  const int code = refusal.Code();
  co_return co_await writer.Send(code, std::move(headers), std::move(pieces));
}

}  // namespace apimesh::http
