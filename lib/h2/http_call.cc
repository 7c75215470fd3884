#include "lib/h2/http_call.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <nghttp2/nghttp2.h>

#include "lib/base/log.h"
#include "lib/h2/session.h"
#include "lib/http/header_value.h"
#include "lib/http/refusal.h"

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
    request_.headers.emplace_back(name, value);
  }
}

bool HttpCall::OnMessage(std::string data) {
  too_large_ |= request_.body.size() + data.size() > limits_.body_bytes;
  if (!too_large_) request_.body += data;
  return true;
}

void HttpCall::OnRemoteEnd() {
  if (std::exchange(started_, true)) return;
  boost::asio::co_spawn(session_->Executor(), Run(std::static_pointer_cast<HttpCall>(shared_from_this())), boost::asio::detached);
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
  if (too_large_) return http::ParseFailure::kBodyTooLarge;
  if (header_bytes_ > limits_.header_bytes) return http::ParseFailure::kHeadersTooLarge;
  return request_.target.empty() ? http::ParseFailure::kBadMessage : http::ParseFailure::kNone;
}

void HttpCall::SendHead(int code, const http::Headers& headers, std::optional<std::size_t> length) {
  head_sent_ = true;
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
