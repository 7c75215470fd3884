#include "services/console/requests/answers.h"

#include <boost/json/serialize.hpp>

namespace apimesh::console {
namespace {

void AddCommonHeaders(http::Headers& headers) {
  headers.emplace_back("x-content-type-options", "nosniff");
  headers.emplace_back("referrer-policy", "no-referrer");
  headers.emplace_back("x-frame-options", "DENY");
  headers.emplace_back("cross-origin-resource-policy", "same-origin");
  headers.emplace_back("cross-origin-opener-policy", "same-origin");
}

}  // namespace

void AddDataHeaders(http::Headers& headers) {
  AddCommonHeaders(headers);
  headers.emplace_back("cache-control", "no-store");
  headers.emplace_back("content-security-policy", "default-src 'none'; frame-ancestors 'none'; sandbox");
}

void AddPageHeaders(http::Headers& headers) {
  AddCommonHeaders(headers);
  headers.emplace_back("content-security-policy",
                       "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src "
                       "'none'");
  headers.emplace_back("permissions-policy", "camera=(), geolocation=(), microphone=()");
}

Task<> SendJson(http::ResponseWriter& writer, int code, std::string document, http::Headers more) {
  http::Headers headers = std::move(more);
  headers.emplace_back("content-type", "application/json");
  AddDataHeaders(headers);
  std::vector<SharedBytes> body;
  body.emplace_back(std::move(document));
  co_await writer.Send(code, std::move(headers), std::move(body));
}

Task<> SendError(http::ResponseWriter& writer, meta::ApiError error) {
  http::Headers none;
  co_await SendJson(writer, error.Code(), boost::json::serialize(error.ToStatus()), std::move(none));
}

http::RefusalBody ErrorBody(const http::Refusal& refusal) {
  const meta::ApiError error({.code = refusal.Code(),
                              .reason = meta::Reason::kBadRequest,
                              .message = refusal.detail.empty() ? "the request was refused" : refusal.detail});
  return {"application/json", boost::json::serialize(error.ToStatus())};
}

}  // namespace apimesh::console
