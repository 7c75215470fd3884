#include "lib/http/request_body.h"

#include <fmt/format.h>

#include "lib/http/connection.h"

namespace apimesh::http {
namespace {
constexpr std::uint64_t kSkipBytes = 256 << 10;  // as Go's server does
constexpr std::chrono::milliseconds kSkipTime{5000};
constexpr int kRetryAfterSeconds = 1;
using Body = RequestParser::Body;
}  // namespace

meta::ApiError BodyTooLarge(const Limits& limits) { return meta::RequestEntityTooLarge(fmt::format("limit is {}", limits.body_bytes)); }
meta::ApiError NoRoomForBody() { return meta::TooManyRequests("Too many requests, please try again later.", kRetryAfterSeconds); }
meta::ApiError BodyTimedOut() { return meta::Timeout("request did not complete within the allotted timeout"); }
meta::ApiError BodyBroken(std::string_view why) { return meta::BadRequest(fmt::format("error reading the request body: {}", why)); }

bool RequestBody::Arrived() {
  if (!unread_) return true;
  if (const auto length = parser_.RemainingLength()) {
    return *length <= connection_.Unread().size() || *length > connection_.GetLimits().body_bytes;
  }
  connection_.Consume(parser_.FeedBody(connection_.Unread(), Body::kKeep));
  return parser_.Done() || parser_.Failure() != ParseFailure::kNone;
}

Task<meta::Result<std::string>> RequestBody::Read(BodyTerms terms) {
  const Limits& limits = connection_.GetLimits();
  unread_ = false;
  asked_for_ = true;
  if (parser_.Done() && parser_.KeptBytes() == 0) co_return std::string();
  if (skipping_) co_return BodyBroken("the request has been answered");
  const auto length = parser_.RemainingLength();
  if (length && *length > limits.body_bytes) co_return BodyTooLarge(limits);
  bool leased = false;
  const SteadyTime deadline = std::min(terms.deadline, Clock::System().Steady() + limits.body_timeout);
  for (;;) {
    const std::string_view input = connection_.Unread();
    // The length is not known of chunks; those that go beyond the free bytes count as the largest body.
    const bool large = length ? *length > BodyBudget::kFreeBytes : parser_.KeptBytes() + input.size() > BodyBudget::kFreeBytes;
    if (large && !leased) {
      leased = true;
      const bool room = co_await lease_.Take(limits.bodies, terms.owner, length.value_or(limits.body_bytes));
      if (!room) co_return NoRoomForBody();
      continue;  // there may be more input by now
    }
    connection_.Consume(parser_.FeedBody(input, Body::kKeep));
    if (parser_.Failure() == ParseFailure::kBodyTooLarge) co_return BodyTooLarge(limits);
    if (parser_.Failure() != ParseFailure::kNone) co_return BodyBroken("malformed chunked encoding");
    if (parser_.Done()) break;
    // The head of a chunk, or the trailers, without end.
    if (connection_.Unread().size() > limits.header_bytes) co_return BodyBroken("header line too long");
    if (!co_await SendContinue()) co_return BodyBroken("unexpected EOF");
    connection_.ExpireReadAt(deadline);
    const bool more = co_await connection_.ReadMore();
    connection_.ClearDeadline();
    if (!more) co_return connection_.InputEnded() ? BodyBroken("unexpected EOF") : BodyTimedOut();
  }
  std::string body = parser_.TakeBody();
  if (leased) lease_.Shrink(body.size());
  connection_.WatchInput();
  co_return body;
}

Task<bool> RequestBody::SendContinue() {
  if (!parser_.ExpectsContinue() || continued_) co_return true;
  continued_ = true;
  std::vector<std::string_view> interim{"HTTP/1.1 100 Continue\r\n\r\n"};
  co_return co_await connection_.Write(std::move(interim));
}

bool RequestBody::CanSkip() {
  skipping_ = true;
  unread_ = false;
  if (parser_.Done()) return true;
  if (asked_for_) return false;  // it is too large, too slow or malformed
  connection_.Consume(parser_.FeedBody(connection_.Unread(), Body::kDiscard));
  if (parser_.Done()) return true;
  if (parser_.Failure() != ParseFailure::kNone) return false;
  // A client that was not told to go on may send the body or the next request: nobody can tell which.
  if (parser_.ExpectsContinue() && !continued_) return false;
  const auto length = parser_.RemainingLength();
  return length && *length <= kSkipBytes;
}

Task<bool> RequestBody::Skip() {
  connection_.SetDeadline(kSkipTime);
  for (;;) {
    const bool more = co_await connection_.ReadMore();
    if (!more) co_return false;
    connection_.Consume(parser_.FeedBody(connection_.Unread(), Body::kDiscard));
    if (parser_.Failure() != ParseFailure::kNone) co_return false;
    if (parser_.Done()) co_return true;
  }
}

}  // namespace apimesh::http
