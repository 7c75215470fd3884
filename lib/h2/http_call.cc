#include "lib/h2/http_call.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <nghttp2/nghttp2.h>

#include <cstdlib>

#include "lib/base/log.h"
#include "lib/h2/session.h"
#include "lib/http/header_value.h"
#include "lib/http/refusal.h"
#include "lib/http/request_body.h"

namespace apimesh::h2 {
namespace {

/// What HTTP/2 says in another way.
bool IsOfHttp1(std::string_view name) {
  return name == "connection" || name == "transfer-encoding" || name == "content-length" || name == "keep-alive" || name == "upgrade";
}

}  // namespace

void HttpCall::OnHeader(std::string_view name, std::string_view value) {
  if (head_done_) return;  // trailers: read, never used
  header_bytes_ += name.size() + value.size();
  if (header_bytes_ > limits_.header_bytes) return;
  if (name == ":method") {
    request_.method = value;
  } else if (name == ":path") {
    request_.target = value;
  } else if (name == ":authority") {
    request_.headers.emplace_back("host", value);
  } else if (!name.starts_with(':')) {
    if (name == "content-length") announced_ = std::strtoull(std::string(value).c_str(), nullptr, 10);
    request_.headers.emplace_back(name, value);
  }
}

void HttpCall::OnHeadersDone(bool last) {
  if (std::exchange(head_done_, true)) return;  // trailers
  remote_ended_ = last;
  boost::asio::co_spawn(session_->Executor(), Run(std::static_pointer_cast<HttpCall>(shared_from_this())), boost::asio::detached);
}

bool HttpCall::OnMessage(std::string data) {
  if (head_sent_) return true;  // nobody will read it
  if (!TooLarge()) body_ += data;
  if (TooLarge()) WakeReader();
  return reading_;
}

void HttpCall::OnRemoteEnd() {
  remote_ended_ = true;
  WakeReader();
}

void HttpCall::WakeReader() {
  if (reader_) reader_->cancel();
}

Task<meta::Result<std::string>> HttpCall::ReadBody(http::BodyTerms terms) {
  reading_ = true;
  const bool large = remote_ended_ ? body_.size() > http::BodyBudget::kFreeBytes : announced_ == 0 || announced_ > http::BodyBudget::kFreeBytes;
  if (!TooLarge() && large) {
    std::size_t size = announced_ > 0 ? announced_ : limits_.body_bytes;
    if (remote_ended_) size = body_.size();
    const bool room = co_await lease_.Take(limits_.bodies, terms.owner, size);
    if (!room) co_return http::NoRoomForBody();
  }
  const SteadyTime deadline = std::min(terms.deadline, Clock::System().Steady() + limits_.body_timeout);
  ReleaseInput();
  while (!remote_ended_ && !TooLarge() && IsOpen() && Clock::System().Steady() < deadline) {
    reader_.emplace(co_await boost::asio::this_coro::executor, deadline);
    boost::system::error_code ignored;
    co_await reader_->async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
    reader_.reset();
  }
  if (TooLarge()) co_return http::BodyTooLarge(limits_);
  if (!IsOpen()) co_return http::BodyBroken("unexpected EOF");
  if (!remote_ended_) co_return http::BodyTimedOut();
  lease_.Shrink(body_.size());
  co_return std::move(body_);
}

Task<> HttpCall::Run(std::shared_ptr<HttpCall> self) {
  self->head_only_ = self->request_.method == "HEAD";
  bool failed = false;
  try {
    if (const http::ParseFailure failure = self->Failure(); failure != http::ParseFailure::kNone) {
      co_await http::SendRefusal(*self, failure, self->limits_);
    } else {
      self->request_.peer = std::make_shared<const http::Peer>();
      co_await (*self->handler_)(std::move(self->request_), *self);
    }
  } catch (const std::exception& error) {
    log::Error("HTTP handler failed: {}", error.what());
    failed = true;
  }
  self->on_disconnect_ = nullptr;
  if (!self->head_sent_ && self->IsOpen()) {
    co_await http::SendError(*self, meta::InternalError("the request was not answered"));
  }
  if (failed || !self->finished_) self->Abort();
}

/// What is wrong with the request, if it need not be asked of the handler.
http::ParseFailure HttpCall::Failure() const {
  if (header_bytes_ > limits_.header_bytes) return http::ParseFailure::kHeadersTooLarge;
  return request_.target.empty() ? http::ParseFailure::kBadMessage : http::ParseFailure::kNone;
}

void HttpCall::SendHead(int code, const http::Headers& headers, std::optional<std::size_t> length) {
  head_sent_ = true;
  body_.clear();
  ReleaseInput();  // what else comes is thrown away
  head_only_ |= http::HasNoBody(code);
  Metadata head{{":status", std::to_string(code)}};
  bool has_date = false;
  for (const auto& [name, value] : headers) {
    if (IsOfHttp1(name)) continue;
    has_date |= name == "date";
    http::AppendHeaderValue(head.emplace_back(name, "").second, value);
  }
  if (!has_date) head.emplace_back("date", http::DateNow());
  if (length && !http::HasNoBody(code)) head.emplace_back("content-length", std::to_string(*length));
  session_->Respond(*this, head, false);
}

Task<bool> HttpCall::Send(int code, http::Headers headers, std::vector<SharedBytes> body) {
  if (!Writable()) co_return false;
  std::size_t length = 0;
  for (const SharedBytes& piece : body) length += piece.size();
  SendHead(code, headers, length);
  const bool written = co_await Write(std::move(body));
  if (written) co_await Finish();
  co_return finished_;
}

Task<bool> HttpCall::Start(int code, http::Headers headers, bool /*compress*/) {
  if (!Writable()) co_return false;
  SendHead(code, headers, std::nullopt);
  co_return true;
}

Task<bool> HttpCall::Write(std::vector<SharedBytes> pieces) {
  if (!Writable()) co_return false;
  if (head_only_) co_return true;
  if (!Stream::Send(pieces)) co_return false;
  pieces.clear();
  if (!Crowded()) co_return true;
  auto start = [this](Waiter<bool> waiter) { writer_.emplace(std::move(waiter)); };
  co_return co_await Suspend<bool>(std::move(start));
}

bool HttpCall::TryWrite(const http::Chunk& chunk) {
  if (!Writable() || head_only_ || Crowded() || chunk.empty()) return false;
  return Stream::Send({chunk.Body()});
}

Task<bool> HttpCall::Finish() {
  if (!Writable()) co_return false;
  finished_ = true;
  End();
  co_return true;
}

void HttpCall::Abort() {
  on_disconnect_ = nullptr;
  head_sent_ = true;
  if (finished_) return;
  finished_ = true;
  Reset(NGHTTP2_INTERNAL_ERROR);
}

Task<std::unique_ptr<http::RawConnection>> HttpCall::Upgrade(http::Headers /*headers*/) {
  Abort();
  co_return nullptr;
}

void HttpCall::OnDisconnect(std::function<void()> callback) {
  if (callback && !IsOpen()) {
    callback();
  } else {
    on_disconnect_ = std::move(callback);
  }
}

void HttpCall::OnClosed(std::uint32_t) {
  const auto alive = shared_from_this();
  WakeReader();
  auto writer = Take(writer_);
  if (writer) std::move(*writer).Resume(false);
  if (const auto callback = std::exchange(on_disconnect_, nullptr)) callback();
}

void HttpCall::OnRoom() {
  if (!writer_) return;
  auto waiter = Take(writer_);
  std::move(*waiter).Resume(true);
}

}  // namespace apimesh::h2
