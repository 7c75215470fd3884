#include "lib/http/http2/call.h"

#include <cstdlib>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <nghttp2/nghttp2.h>

#include "lib/base/log.h"
#include "lib/gzip/accepts.h"
#include "lib/http/header_value.h"
#include "lib/http/message_parser.h"
#include "lib/http/request_body.h"

namespace apimesh::http {
namespace {

constexpr std::size_t kSmallHeadBytes = 4 << 10;
constexpr std::uint32_t kBodyWindow = 256 << 10;  // of a body that is being read
constexpr std::size_t kCompressBeforeYield = 256 << 10;
constexpr std::size_t kCopyBytes = 64 << 10;

/// Headers that HTTP/2 replaces with its own mechanisms.
bool IsOfHttp1(std::string_view name) {
  return name == "connection" || name == "transfer-encoding" || name == "content-length" || name == "keep-alive" ||
         name == "upgrade";
}

}  // namespace

Http2Call::Http2Call(const boost::asio::any_io_executor& executor, std::shared_ptr<Http2Calls> calls)
    : executor_(executor), calls_(std::move(calls)), head_(calls_->GetLimits()) {
  calls_->Add(*this);
}

Http2Call::~Http2Call() {
  calls_->ReturnSmallBody(small_body_bytes_);
  calls_->ReleaseHead(held_head_bytes_);
  calls_->Remove(*this);
}

void Http2Call::OnHeader(std::string_view name, std::string_view value) {
  if (head_done_ || malformed_) return;  // trailers are read but not used
  malformed_ = !head_.Add(name, value);
}

void Http2Call::OnHeadersDone(bool last) {
  if (std::exchange(head_done_, true)) return;  // trailers
  if (malformed_ || !head_.End()) return Reset(NGHTTP2_PROTOCOL_ERROR);
  remote_ended_ = last;
  boost::asio::co_spawn(executor_, Run(Self()), boost::asio::detached);
}

void Http2Call::OnData(std::string_view data) {
  received_ += data.size();
  if (received_ > head_.Length().value_or(received_)) return Reset(NGHTTP2_PROTOCOL_ERROR);
  if (head_sent_) return;  // the body is no longer needed
  if (!TooLarge()) body_ += data;
  if (TooLarge()) WakeReader();
  if (!reading_) HoldInput();
}

void Http2Call::OnRemoteEnd() {
  remote_ended_ = true;
  WakeReader();
}

void Http2Call::WakeReader() {
  if (reader_) reader_->cancel();
}

/// Takes the memory for the body.
Task<bool> Http2Call::LeaseBody(std::string owner) {
  std::size_t size = head_.Length().value_or(GetLimits().body_bytes);
  if (remote_ended_) size = body_.size();
  if (size <= BodyBudget::kFreeBytes && calls_->TakeSmallBody(size)) {
    small_body_bytes_ = size;
    co_return true;
  }
  co_return co_await lease_.Take(GetLimits().bodies, std::move(owner), size, GetClock());
}

Task<BodyResult> Http2Call::ReadBody(BodyTerms terms) {
  reading_ = true;
  if (!TooLarge()) {
    const bool room = co_await LeaseBody(std::move(terms.owner));
    if (!room) co_return Refusal{Refusal::Cause::kNoMemory};
    body_.reserve(std::min<std::uint64_t>(head_.Length().value_or(0), GetLimits().body_bytes));
  }
  const SteadyTime deadline = std::min(terms.deadline, GetClock().Steady() + GetLimits().body_timeout);
  if (!remote_ended_ && !TooLarge() && IsOpen()) {
    if (head_.ExpectsContinue()) session_->Inform(*this, 100);
    GrowWindow(kBodyWindow);
  }
  ReleaseInput();
  while (!remote_ended_ && !TooLarge() && IsOpen() && GetClock().Steady() < deadline) {
    reader_.emplace(co_await boost::asio::this_coro::executor, deadline);
    boost::system::error_code ignored;
    co_await reader_->async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
    reader_.reset();
  }
  if (TooLarge()) co_return BodyTooLarge(GetLimits());
  if (!IsOpen()) co_return BodyBroken("unexpected EOF");
  if (!remote_ended_) co_return Refusal{Refusal::Cause::kBodyTimedOut};
  if (received_ != head_.Length().value_or(received_)) co_return BodyBroken("the body is shorter than Content-Length");
  lease_.Shrink(body_.size());
  co_return std::move(body_);
}

Task<> Http2Call::Run(std::shared_ptr<Http2Call> self) {
  bool failed = false;
  try {
    std::optional<Refusal> refusal = self->head_.Refused();
    if (!refusal && self->head_.Bytes() > kSmallHeadBytes) {
      self->held_head_bytes_ = self->head_.Bytes();
      if (!self->calls_->HoldHead(self->held_head_bytes_)) refusal = Refusal{Refusal::Cause::kHeadTooLarge};
    }
    Request request = self->head_.Take();
    request.peer = self->calls_->Peer();
    self->head_only_ = request.method == "HEAD";
    self->accepts_gzip_ = gzip::Accepts(request.Header("accept-encoding"));
    if (refusal) {
      co_await SendRefusal(*self, *refusal, self->GetLimits().refusal_body);
    } else {
      co_await self->calls_->Shared().handler(std::move(request), *self);
    }
  } catch (const std::exception& error) {
    log::Error("HTTP handler failed: {}", error.what());
    failed = true;
  }
  self->on_disconnect_ = nullptr;
  if (!self->head_sent_ && self->IsOpen()) {
    const Refusal refusal{Refusal::Cause::kNotAnswered};
    co_await SendRefusal(*self, refusal, self->GetLimits().refusal_body);
  }
  if (failed || !self->finished_) self->Abort();
}

void Http2Call::SendHead(int code, const Headers& headers, std::optional<std::size_t> length, bool last) {
  head_sent_ = true;
  body_.clear();
  ReleaseInput();  // further input is discarded
  head_only_ |= HasNoBody(code);
  http2::Headers head;
  head.reserve(headers.size() + 3);
  head.emplace_back(":status", std::to_string(code));
  bool has_date = false;
  for (const auto& [name, value] : headers) {
    if (name == "connection" && value == "close") calls_->go_away();
    if (IsOfHttp1(name)) continue;
    has_date |= name == "date";
    AppendHeaderValue(head.emplace_back(name, "").second, value);
  }
  if (!has_date) head.emplace_back("date", DateText(GetClock().Now()));
  if (length && !HasNoBody(code)) head.emplace_back("content-length", std::to_string(*length));
  session_->Respond(*this, head, last);
}

bool Http2Call::Compresses(int code, const Headers& headers) const {
  return accepts_gzip_ && !head_only_ && !HasNoBody(code) && FindHeader(headers, "content-encoding").empty();
}

Task<bool> Http2Call::Send(int code, Headers headers, std::vector<SharedBytes> body) {
  if (!Writable()) co_return false;
  std::size_t length = 0;
  for (const SharedBytes& piece : body) length += piece.size();
  if (length >= GetLimits().gzip_minimum && Compresses(code, headers))
    co_return co_await SendCompressed(code, std::move(headers), std::move(body));
  // The response to a HEAD may have the length of a body that it does not contain.
  if (head_only_ && length == 0)
    length = std::strtoull(std::string(FindHeader(headers, "content-length")).c_str(), nullptr, 10);
  const bool last = head_only_ || length == 0 || HasNoBody(code);
  SendHead(code, headers, length, last);
  if (last) {
    finished_ = true;
    co_return true;
  }
  const bool written = co_await Write(std::move(body));
  if (written) co_await Finish();
  co_return finished_;
}

Task<bool> Http2Call::SendCompressed(int code, Headers headers, std::vector<SharedBytes> body) {
  if (!co_await Start(code, std::move(headers), true)) co_return false;
  const auto executor = co_await boost::asio::this_coro::executor;
  std::string out;
  for (const SharedBytes& piece : body) {
    for (std::string_view rest = piece.View(); !rest.empty();) {
      const std::string_view part = rest.substr(0, kCompressBeforeYield);
      rest.remove_prefix(part.size());
      gzip_->Add(part, false, out);
      if (!piece.StillValid()) {
        Abort();
        co_return false;
      }
      std::vector<SharedBytes> compressed;
      compressed.emplace_back(std::exchange(out, {}));
      const bool queued = co_await Queue(std::move(compressed));
      if (!queued) co_return false;
      if (rest.empty()) break;
      co_await boost::asio::post(executor, boost::asio::use_awaitable);  // lets other requests of this thread run
    }
  }
  co_return co_await Finish();
}

Task<bool> Http2Call::Start(int code, Headers headers, bool compress) {
  if (!Writable()) co_return false;
  if (compress && Compresses(code, headers)) {
    gzip_ = std::make_unique<gzip::Stream>();
    headers.emplace_back("content-encoding", "gzip");
    headers.emplace_back("vary", "Accept-Encoding");
  }
  SendHead(code, headers, std::nullopt, false);
  co_return true;
}

/// Returns when there is room for more. The session keeps the pieces until the client's window has room for them.
Task<bool> Http2Call::Queue(std::vector<SharedBytes> pieces) {
  if (!Writable()) co_return false;
  for (const SharedBytes& piece : pieces) written_ += piece.size();
  if (!Stream::Send(pieces)) co_return false;
  pieces.clear();
  if (!AboveHighWatermark()) co_return true;
  auto start = [this](Waiter<bool> waiter) { writer_.emplace(std::move(waiter)); };
  co_return co_await Suspend<bool>(std::move(start));
}

Task<bool> Http2Call::Write(std::vector<SharedBytes> pieces) {
  if (!Writable()) co_return false;
  if (head_only_) co_return true;
  if (gzip_) {
    std::string out;
    for (std::size_t i = 0; i < pieces.size(); ++i) gzip_->Add(pieces[i].View(), i + 1 == pieces.size(), out);
    if (!StillValid(pieces)) {
      Abort();
      co_return false;
    }
    pieces.clear();
    pieces.emplace_back(std::move(out));
  }
  if (!AnyRevocable(pieces)) co_return co_await Queue(std::move(pieces));
  for (const SharedBytes& piece : pieces) {
    const bool written = co_await WriteCopies(piece);
    if (!written) co_return false;
  }
  co_return true;
}

/// Copies as much of revocable memory as may wait for the client. The rest is copied when there is room for it.
Task<bool> Http2Call::WriteCopies(SharedBytes piece) {
  for (std::string_view rest = piece.View(); !rest.empty();) {
    std::vector<SharedBytes> copy;
    copy.emplace_back(std::string(rest.substr(0, kCopyBytes)));
    rest.remove_prefix(copy.front().size());
    if (!piece.StillValid()) {
      Abort();
      co_return false;
    }
    const bool queued = co_await Queue(std::move(copy));
    if (!queued) co_return false;
  }
  co_return true;
}

bool Http2Call::TryWrite(const Chunk& chunk) {
  if (!Writable() || head_only_ || gzip_ || AboveHighWatermark() || chunk.empty()) return false;
  written_ += chunk.Body().size();
  return Stream::Send(std::span(&chunk.Body(), 1));
}

Task<bool> Http2Call::Finish() {
  if (!Writable()) co_return false;
  if (gzip_) {
    std::string out;
    gzip_->Finish(out);
    written_ += out.size();
    const SharedBytes last(std::move(out));
    Stream::Send(std::span(&last, 1));
    gzip_.reset();
  }
  finished_ = true;
  End();
  co_return true;
}

void Http2Call::Abort() {
  on_disconnect_ = nullptr;
  head_sent_ = true;
  if (finished_) return;
  finished_ = true;
  Reset(NGHTTP2_INTERNAL_ERROR);
}

Task<std::unique_ptr<RawConnection>> Http2Call::Upgrade(Headers /*headers*/) {
  Abort();
  co_return nullptr;
}

void Http2Call::OnDisconnect(std::function<void()> callback) {
  if (callback && !IsOpen()) {
    callback();
  } else {
    on_disconnect_ = std::move(callback);
  }
}

void Http2Call::OnClosed(std::uint32_t) {
  const auto alive = shared_from_this();
  WakeReader();
  auto writer = Take(writer_);
  if (writer) std::move(*writer).Resume(false);
  if (const auto callback = std::exchange(on_disconnect_, nullptr)) callback();
}

void Http2Call::OnBelowLowWatermark() {
  if (!writer_) return;
  auto waiter = Take(writer_);
  std::move(*waiter).Resume(true);
}

bool Http2Call::CheckHead(SteadyTime now) {
  if (head_done_) return true;
  if (!seen_) seen_ = now;
  return now < *seen_ + GetLimits().header_timeout;
}

bool Http2Call::CheckProgress(SteadyTime now, std::chrono::milliseconds stall_limit) {
  if (!head_done_ || !IsOpen()) return true;
  const std::uint64_t sent = written_ - QueuedBytes();
  if (QueuedBytes() > 0 && sent == seen_sent_ && seen_) {
    if (now < *seen_ + stall_limit) return true;
    Reset(NGHTTP2_CANCEL);
    return false;
  }
  seen_sent_ = sent;
  seen_ = now;
  if (!finished_ || remote_ended_ || !LocalEndSent()) return true;
  Reset(NGHTTP2_NO_ERROR);  // the client has the response, and need not send the rest of its request
  return false;
}

}  // namespace apimesh::http
