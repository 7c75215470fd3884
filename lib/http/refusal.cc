#include "lib/http/refusal.h"

#include <boost/json/serialize.hpp>

#include "lib/http/request_body.h"

namespace apimesh::http {
namespace {

Task<bool> SendText(ResponseWriter& writer, int code, std::string text) {
  Headers headers{{"content-type", "text/plain; charset=utf-8"}};
  std::vector<SharedBytes> body;
  body.emplace_back(std::move(text));
  co_return co_await writer.Send(code, std::move(headers), std::move(body));
}

}  // namespace

Task<bool> SendError(ResponseWriter& writer, meta::ApiError error) {
  Headers headers{{"content-type", "application/json"}};
  if (const int seconds = error.Get().retry_after_seconds) headers.emplace_back("retry-after", std::to_string(seconds));
  std::vector<SharedBytes> body;
  body.emplace_back(boost::json::serialize(error.ToStatus()) + "\n");
  co_return co_await writer.Send(error.Code(), std::move(headers), std::move(body));
}

Task<bool> SendRefusal(ResponseWriter& writer, ParseFailure failure, const Limits& limits) {
  switch (failure) {
    case ParseFailure::kBodyTooLarge: return SendError(writer, BodyTooLarge(limits));
    case ParseFailure::kHeadersTooLarge: return SendText(writer, 431, "431 Request Header Fields Too Large");
    case ParseFailure::kTransferEncoding: return SendText(writer, 501, "501 Not Implemented: unsupported transfer encoding");
    default: return SendText(writer, 400, "400 Bad Request");
  }
}

}  // namespace apimesh::http
