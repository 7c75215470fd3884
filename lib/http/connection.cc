#include "lib/http/connection.h"

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "lib/base/log.h"
#include "lib/http/answer.h"
#include "lib/http/http2/connection.h"
#include "lib/http/refusal.h"
#include "lib/http/request_body.h"

namespace apimesh::http {
namespace {
constexpr std::size_t kScratchBytes = 64 << 10;
constexpr std::size_t kKeptCapacity = 16 << 10;    // of the input buffer, between requests
constexpr std::size_t kReadAheadBytes = 32 << 10;  // beyond the current need: of a body with its head, of pipelined
                                                   // requests
constexpr std::size_t kLingerBytes = 4 << 20;      // of a body that a client sends before it reads the response
constexpr std::chrono::milliseconds kLingerTime{500};
}  // namespace

Connection::Connection(std::shared_ptr<ServerShared> shared, Worker& worker, std::unique_ptr<net::Transport> transport,
                       std::shared_ptr<net::Peer> peer)
    : shared_(std::move(shared)), worker_(worker), transport_(std::move(transport)), peer_(std::move(peer)) {
  worker_.connections.insert(this);
  ++shared_->open;
}

Connection::~Connection() {
  Cut();
  worker_.connections.erase(this);
  --worker_.load;
  --shared_->connections;
}

Task<> Connection::Run() {
  const std::shared_ptr<Connection> self = shared_from_this();
  if (!co_await Handshake()) {
    if (shared_->limits.handshake_failed) shared_->limits.handshake_failed();
    Cut();
    co_return;
  }
  transport_->DescribePeer(*peer_);
  if (peer_->UsesHttp2()) {
    co_await ServeHttp2();
    co_return;
  }
  for (bool more = true; more;) {
    more = co_await ServeOne();
    // Between pipelined requests, the requests of other clients are served.
    if (more && !Unread().empty()) co_await boost::asio::post(worker_.io, boost::asio::use_awaitable);
  }
  if (!tunnel_) co_await Linger();
}

void Connection::BeginHandshake() {
  SetDeadline(shared_->limits.handshake_timeout);
  handshake_ = worker_.handshakes.insert(worker_.handshakes.end(), this);
  // A client that responds completes within a few turns of the event loop, so the oldest handshake is one without a
  // response.
  while (worker_.handshakes.size() > shared_->limits.handshakes) worker_.handshakes.front()->shared_from_this()->Cut();
}

void Connection::EndHandshake() {
  if (!handshake_) return;
  worker_.handshakes.erase(*handshake_);
  handshake_.reset();
}

Task<bool> Connection::Handshake() {
  BeginHandshake();
  for (;;) {
    switch (transport_->TryHandshake()) {
      case net::Transport::Handshake::kDone: EndHandshake(); co_return true;
      case net::Transport::Handshake::kFailed:
        log::Debug("TLS handshake with {} failed: {}", peer_->address, transport_->Error());
        co_return false;
      case net::Transport::Handshake::kWantRead: {
        auto wake = [self = shared_from_this()] { self->readable_.Set(); };
        transport_->WaitReadable(wake);
        co_await readable_.Wait();
        break;
      }
      case net::Transport::Handshake::kWantWrite: {
        auto wake = [self = shared_from_this()] { self->writable_.Set(); };
        transport_->WaitWritable(wake);
        co_await writable_.Wait();
        break;
      }
    }
    if (closed_) co_return false;
  }
}

Task<bool> Connection::ReadHead(RequestParser& parser) {
  idle_ = true;
  busy_ = false;
  SetDeadline(shared_->limits.idle_timeout);
  if (Unread().empty() && (shared_->draining || !co_await ReadMore())) co_return false;
  idle_ = false;
  SetDeadline(shared_->limits.header_timeout);
  std::size_t received = 0;
  for (;;) {
    const std::size_t used = parser.Feed(Unread());
    received += used;
    Consume(used);
    ParseFailure failure = parser.Failure();
    if (failure == ParseFailure::kNone && parser.HeadDone()) break;
    if (failure == ParseFailure::kNone && !HoldHead(received + Unread().size()))
      failure = ParseFailure::kHeadersTooLarge;
    if (failure != ParseFailure::kNone) {
      HoldHead(0);
      co_await Refuse(failure);
      co_return false;
    }
    if (!co_await ReadMore()) co_return false;
  }
  // A request keeps its head until its response is sent, and a client may never read that.
  if (!HoldHead(received > kReadAheadBytes ? received : 0)) {
    HoldHead(0);
    co_await Refuse(ParseFailure::kHeadersTooLarge);
    co_return false;
  }
  ClearDeadline();
  busy_ = true;
  co_return true;
}

/// Accounts for the memory of an incomplete head, or of a large one whose request is in progress. Returns false if all
/// heads together use too much and this one is large.
bool Connection::HoldHead(std::size_t bytes) {
  shared_->head_bytes += bytes - held_head_bytes_;
  held_head_bytes_ = bytes;
  if (bytes == 0 || shared_->head_bytes <= shared_->limits.unfinished_head_bytes) return true;
  if (bytes > kReadAheadBytes) return false;
  if (shared_->make_room) shared_->make_room();
  return true;
}

Task<bool> Connection::ServeOne() {
  RequestParser parser(shared_->limits);
  if (!co_await ReadHead(parser)) co_return false;
  Request request = parser.TakeRequest();
  request.peer = peer_;
  RequestBody body(*this, parser);
  AnswerWriter answer(shared_from_this(), AnswerWriter::Facts::Of(request, parser.IsHttp10(), parser.KeepAlive()),
                      &body);
  if (parser.Done()) WatchInput();  // a body is not read until the handler asks for it
  bool failed = false;
  try {
    co_await shared_->handler(std::move(request), answer);
  } catch (const std::exception& error) {
    log::Error("HTTP handler failed: {}", error.what());
    failed = true;
  }
  on_disconnect_ = nullptr;
  HoldHead(0);
  if (tunnel_) co_return false;
  if ((failed || !answer.HeadSent()) && !closed_) {
    if (answer.HeadSent()) {
      Cut();
    } else {
      const Refusal refusal{Refusal::Cause::kNotAnswered};
      co_await SendRefusal(answer, refusal, shared_->limits.refusal_body);
    }
  }
  if (!answer.Finished()) Cut();  // the client must see that the response is incomplete
  if (closed_ || !answer.KeepAlive()) co_return false;
  if (body.Done()) co_return true;
  const bool skipped = co_await body.Skip();
  co_return skipped;
}

Task<> Connection::Refuse(ParseFailure failure) {
  AnswerWriter answer(shared_from_this(), {}, nullptr);
  const Refusal refusal = RefusalOf(failure, shared_->limits);
  co_await SendRefusal(answer, refusal, shared_->limits.refusal_body);
}

// Closing a socket with unread input resets it, and the client may lose the last response; so the input is read and
// discarded for a moment first.
Task<> Connection::Linger() {
  if (!closed_ && !end_of_input_) {
    transport_->ShutdownWrite();
    busy_ = false;
    SetDeadline(kLingerTime);
    std::size_t discarded = 0;
    for (bool more = true; more && discarded < kLingerBytes;) {
      discarded += Unread().size();
      Consume(Unread().size());
      more = co_await ReadMore();
    }
  }
  Cut();
}

Task<bool> Connection::ReadMore() {
  if (!watching_input_ && transport_->Buffered() && Fill()) co_return true;
  if (closed_ || end_of_input_) co_return false;
  const std::size_t before = Unread().size();
  reader_waits_ = true;
  WatchInput();
  co_await readable_.Wait();
  reader_waits_ = false;
  co_return Unread().size() > before;
}

void Connection::WatchInput() {
  if (watching_input_ || end_of_input_ || closed_) return;
  watching_input_ = true;
  transport_->WaitReadable([self = shared_from_this()] {
    self->watching_input_ = false;
    self->OnReadable();
  });
}

void Connection::OnReadable() {
  const bool progress = Fill();
  if (reader_waits_) {
    if (progress || end_of_input_) {
      readable_.Set();
    } else {
      WatchInput();
    }
  } else if (end_of_input_) {
    NotifyDisconnect();
  } else if (Unread().size() < kReadAheadBytes) {
    WatchInput();
  }
}

bool Connection::Fill() {
  thread_local char scratch[kScratchBytes];
  bool progress = false;
  const std::size_t limit = only_read_expires_ ? kScratchBytes : kReadAheadBytes;  // a body is read in larger pieces
  while (!closed_) {
    const long size = transport_->TryRead(scratch, limit);
    if (size == net::Transport::kWouldBlock) return progress;
    if (size <= 0) break;
    in_.append(scratch, static_cast<std::size_t>(size));
    progress = true;
    if (!transport_->Buffered() || Unread().size() >= limit) return true;
  }
  end_of_input_ = true;
  return progress;
}

void Connection::Consume(std::size_t size) {
  in_start_ += size;
  if (in_start_ < in_.size()) {
    if (in_start_ < kReadAheadBytes) return;
    in_.erase(0, in_start_);
    in_start_ = 0;
    return;
  }
  in_start_ = 0;
  // The buffer of a large request must not stay allocated on an idle connection.
  if (in_.capacity() > kKeptCapacity) {
    std::string().swap(in_);  // an assignment of an empty string would keep the memory
  } else {
    in_.clear();
  }
}

bool Connection::TryWrite(std::string_view bytes) {
  if (closed_ || ahead_ > 0) return false;
  const long size = transport_->TryWrite(std::span(&bytes, 1));
  if (size <= 0) return false;
  ahead_ = static_cast<std::size_t>(size) % bytes.size();
  return ahead_ == 0;
}

Task<bool> Connection::Write(std::vector<std::string_view> pieces, std::span<const SharedBytes> sources) {
  std::size_t first = 0;
  net::SkipBytes(pieces, first, std::exchange(ahead_, 0));
  while (first < pieces.size()) {
    if (closed_) co_return false;
    if (pieces[first].empty()) {
      ++first;
      continue;
    }
    const long size = transport_->TryWrite(std::span<const std::string_view>(pieces).subspan(first), sources);
    if (size == net::Transport::kWouldBlock) {
      SetDeadline(shared_->limits.idle_timeout);
      auto wake = [self = shared_from_this()] { self->writable_.Set(); };
      transport_->WaitWritable(wake);
      co_await writable_.Wait();
      ClearDeadline();
      continue;
    }
    if (size <= 0) {
      Cut();
      co_return false;
    }
    net::SkipBytes(pieces, first, static_cast<std::size_t>(size));
  }
  co_return true;
}

Task<std::string> Connection::ReadRaw() {
  if (Unread().empty()) co_await ReadMore();
  std::string data(Unread());
  Consume(data.size());
  co_return data;
}

void Connection::SetDisconnectCallback(std::function<void()> callback) {
  if (callback && (closed_ || end_of_input_)) {
    callback();
    return;
  }
  if (callback) WatchInput();
  on_disconnect_ = std::move(callback);
}

void Connection::NotifyDisconnect() {
  if (const auto callback = std::exchange(on_disconnect_, nullptr)) callback();
}

void Connection::Cut() {
  if (std::exchange(closed_, true)) return;
  --shared_->open;
  HoldHead(0);
  EndHandshake();
  if (const auto http2 = http2_) {
    http2->Close("the server closes the connection");
  } else if (transport_) {
    transport_->Close();
  }
  NotifyDisconnect();
}

void Connection::Drain() {
  if (http2_) {
    http2_->GoAway();
  } else if (idle_) {
    Cut();
  }
}

void Connection::SetDeadline(std::chrono::milliseconds from_now) {
  since_ = shared_->clock.Steady();
  deadline_ = since_ + from_now;
  only_read_expires_ = false;
}

void Connection::ExpireReadAt(SteadyTime deadline) {
  deadline_ = deadline;
  only_read_expires_ = true;
}

void Connection::CheckDeadline(SteadyTime now) {
  if (http2_) return CheckHttp2(now);
  if (now < deadline_) return;
  if (!only_read_expires_) return Cut();
  ClearDeadline();
  if (reader_waits_) readable_.Set();
}

}  // namespace apimesh::http
