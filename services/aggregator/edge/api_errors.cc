#include "services/aggregator/edge/api_errors.h"

#include <boost/json/serialize.hpp>
#include <fmt/format.h>

namespace apimesh::aggregator {

using Cause = http::Refusal::Cause;

meta::ApiError ApiErrorOf(const http::Refusal& refusal) {
  switch (refusal.cause) {
    case Cause::kBodyTooLarge: return meta::RequestEntityTooLarge(refusal.detail);
    case Cause::kNoMemory:
      return meta::TooManyRequests("Too many requests, please try again later.", refusal.RetryAfterSeconds());
    case Cause::kBodyTimedOut: return meta::Timeout("request did not complete within the allotted timeout");
    case Cause::kBodyBroken: return meta::BadRequest(fmt::format("error reading the request body: {}", refusal.detail));
    case Cause::kNotAnswered: return meta::InternalError("the request was not answered");
    case Cause::kMalformed:
    case Cause::kHeadTooLarge:
    case Cause::kTransferEncoding: break;
  }
  return meta::BadRequest(http::PlainRefusalBody(refusal).text);
}

http::RefusalBody StatusBody(const http::Refusal& refusal) {
  switch (refusal.cause) {
    case Cause::kMalformed:
    case Cause::kHeadTooLarge:
    case Cause::kTransferEncoding: return http::PlainRefusalBody(refusal);
    default: break;
  }
  return {.content_type = "application/json", .text = boost::json::serialize(ApiErrorOf(refusal).ToStatus()) + "\n"};
}

}  // namespace apimesh::aggregator
