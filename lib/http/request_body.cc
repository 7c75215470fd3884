#include "lib/http/request_body.h"

#include <fmt/format.h>

#include "lib/http/connection.h"

namespace apimesh::http {
namespace {
constexpr std::uint64_t kSkipBytes = 256 << 10;  // as in Go's server
constexpr std::chrono::milliseconds kSkipTime{5000};
using Body = RequestParser::Body;
}  // namespace

Refusal BodyTooLarge(const Limits& limits) {
  return {Refusal::Cause::kBodyTooLarge, fmt::format("limit is {}", limits.body_bytes)};
}
Refusal BodyBroken(std::string_view why) { return {Refusal::Cause::kBodyBroken, std::string(why)}; }

Refusal RefusalOf(ParseFailure failure, const Limits& limits) {
  switch (failure) {
    case ParseFailure::kBodyTooLarge: return BodyTooLarge(limits);
    case ParseFailure::kHeadersTooLarge: return {Refusal::Cause::kHeadTooLarge};
    case ParseFailure::kTransferEncoding: return {Refusal::Cause::kTransferEncoding, "unsupported transfer encoding"};
    case ParseFailure::kNone:
    case ParseFailure::kBadMessage: break;
  }
  return {Refusal::Cause::kMalformed};
}

bool RequestBody::Arrived() {
  if (!unread_) return true;
  if (const auto length = parser_.RemainingLength()) {
    return *length <= connection_.Unread().size() || *length > connection_.GetLimits().body_bytes;
  }
  connection_.Consume(parser_.FeedBody(connection_.Unread(), Body::kKeep));
  return parser_.Done() || parser_.Failure() != ParseFailure::kNone;
}

Task<BodyResult> RequestBody::Read(BodyTerms terms) {
  const Limits& limits = connection_.GetLimits();
  unread_ = false;
  asked_for_ = true;
  if (parser_.Done() && parser_.KeptBytes() == 0) co_return std::string();
  if (skipping_) co_return BodyBroken("the request has been answered");
  const auto length = parser_.RemainingLength();
  if (length && *length > limits.body_bytes) co_return BodyTooLarge(limits);
  bool leased = false;
  const SteadyTime deadline = std::min(terms.deadline, connection_.GetClock().Steady() + limits.body_timeout);
  for (;;) {
    const std::string_view input = connection_.Unread();
    // The length of a chunked body is unknown: if it exceeds the free bytes, it is counted as a body of the maximum
    // size.
    const bool large =
        length ? *length > BodyBudget::kFreeBytes : parser_.KeptBytes() + input.size() > BodyBudget::kFreeBytes;
    if (large && !leased) {
      leased = true;
      const bool room =
          co_await lease_.Take(limits.bodies, terms.owner, length.value_or(limits.body_bytes), connection_.GetClock());
      if (!room) co_return Refusal{Refusal::Cause::kNoMemory};
      continue;  // more input may have been received
    }
    connection_.Consume(parser_.FeedBody(input, Body::kKeep));
    if (parser_.Failure() == ParseFailure::kBodyTooLarge) co_return BodyTooLarge(limits);
    if (parser_.Failure() != ParseFailure::kNone) co_return BodyBroken("malformed chunked encoding");
    if (parser_.Done()) break;
    // A chunk head or trailers that do not end.
    if (connection_.Unread().size() > limits.header_bytes) co_return BodyBroken("header line too long");
    if (!co_await SendContinue()) co_return BodyBroken("unexpected EOF");
    connection_.ExpireReadAt(deadline);
    const bool more = co_await connection_.ReadMore();
    connection_.ClearDeadline();
    if (!more && connection_.InputEnded()) co_return BodyBroken("unexpected EOF");
    if (!more) co_return Refusal{Refusal::Cause::kBodyTimedOut};
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
  if (asked_for_) return false;  // the body is too large, too slow or malformed
  connection_.Consume(parser_.FeedBody(connection_.Unread(), Body::kDiscard));
  if (parser_.Done()) return true;
  if (parser_.Failure() != ParseFailure::kNone) return false;
  // A client that has not received "100 Continue" may send either the body or the next request; they cannot be
  // distinguished.
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
