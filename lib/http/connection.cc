#include "lib/http/connection.h"

#include "lib/base/log.h"
#include "lib/http/answer.h"
#include "lib/http/refusal.h"

namespace apimesh::http {
namespace {
constexpr std::size_t kScratchBytes = 64 << 10;
constexpr std::size_t kReadAheadBytes = 64 << 10;  // of pipelined requests, while one is being answered
constexpr std::chrono::milliseconds kLingerTime{500};
}  // namespace

Connection::Connection(std::shared_ptr<ServerShared> shared, Worker& worker, std::unique_ptr<Transport> transport,
                       std::shared_ptr<Peer> peer)
    : shared_(std::move(shared)), worker_(worker), transport_(std::move(transport)), peer_(std::move(peer)) {
  worker_.connections.insert(this);
}

Connection::~Connection() {
  EndHandshake();
  worker_.connections.erase(this);
  --worker_.load;
  --shared_->connections;
}

Task<> Connection::Run() {
  const std::shared_ptr<Connection> self = shared_from_this();
  if (!co_await Handshake()) {
    Cut();
    co_return;
  }
  transport_->DescribePeer(*peer_);
  for (bool more = true; more;) more = co_await ServeOne();
  if (!tunnel_) co_await Linger();
}

void Connection::BeginHandshake() {
  SetDeadline(shared_->limits.handshake_timeout);
  handshake_ = worker_.handshakes.insert(worker_.handshakes.end(), this);
  // A client that answers is done within a few turns of the event loop, so the oldest is one that does not.
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
      case Transport::Handshake::kDone: EndHandshake(); co_return true;
      case Transport::Handshake::kFailed:
        log::Debug("TLS handshake with {} failed: {}", peer_->address, transport_->Error());
        co_return false;
      case Transport::Handshake::kWantRead: {
        auto wake = [self = shared_from_this()] { self->readable_.Set(); };
        transport_->WaitReadable(wake);
        co_await readable_.Wait();
        break;
      }
      case Transport::Handshake::kWantWrite: {
        auto wake = [self = shared_from_this()] { self->writable_.Set(); };
        transport_->WaitWritable(wake);
        co_await writable_.Wait();
        break;
      }
    }
    if (closed_) co_return false;
  }
}

Task<bool> Connection::ReadRequest(RequestParser& parser) {
  idle_ = true;
  SetDeadline(shared_->limits.idle_timeout);
  if (Unread().empty() && (shared_->draining || !co_await ReadMore())) co_return false;
  idle_ = false;
  SetDeadline(shared_->limits.header_timeout);
  bool continue_sent = false;
  for (;;) {
    Consume(parser.Feed(Unread()));
    if (parser.Failure() != ParseFailure::kNone) {
      co_await Refuse(parser.Failure());
      co_return false;
    }
    if (parser.Done()) break;
    if (Unread().size() > shared_->limits.header_bytes) {  // a chunk's head or trailers without end
      co_await Refuse(ParseFailure::kHeadersTooLarge);
      co_return false;
    }
    if (parser.HeadDone()) {
      if (parser.ExpectsContinue() && !continue_sent) {
        continue_sent = true;
        std::vector<std::string_view> interim{"HTTP/1.1 100 Continue\r\n\r\n"};
        if (!co_await Write(std::move(interim))) co_return false;
      }
      SetDeadline(shared_->limits.idle_timeout);
    }
    if (!co_await ReadMore()) co_return false;
  }
  ClearDeadline();
  co_return true;
}

Task<bool> Connection::ServeOne() {
  RequestParser parser(shared_->limits);
  if (!co_await ReadRequest(parser)) co_return false;
  Request request = parser.TakeRequest();
  request.peer = peer_;
  Answer answer(shared_from_this(), Answer::Facts::Of(request, parser.IsHttp10(), parser.KeepAlive()));
  WatchInput();
  bool failed = false;
  try {
    co_await shared_->handler(std::move(request), answer);
  } catch (const std::exception& error) {
    log::Error("HTTP handler failed: {}", error.what());
    failed = true;
  }
  on_disconnect_ = nullptr;
  transport_->Guard(nullptr);
  if (tunnel_) co_return false;
  if ((failed || !answer.HeadSent()) && !closed_) {
    if (answer.HeadSent()) {
      Cut();
    } else {
      co_await SendError(answer, meta::InternalError("the request was not answered"));
    }
  }
  if (!answer.Finished()) Cut();  // the client must see that the answer is incomplete
  co_return !closed_ && answer.KeepAlive();
}

Task<> Connection::Refuse(ParseFailure failure) {
  Answer answer(shared_from_this(), {});
  co_await SendRefusal(answer, failure, shared_->limits);
}

// Closing a socket that has unread input resets it, and the client may lose our last answer; so the input is read away
// for a moment first.
Task<> Connection::Linger() {
  if (!closed_ && !end_of_input_) {
    transport_->ShutdownWrite();
    SetDeadline(kLingerTime);
    for (bool more = true; more;) {
      in_.clear();
      in_start_ = 0;
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
  while (!closed_) {
    const long size = transport_->TryRead(scratch, sizeof(scratch));
    if (size == Transport::kWouldBlock) return progress;
    if (size <= 0) break;
    in_.append(scratch, static_cast<std::size_t>(size));
    progress = true;
    if (!transport_->Buffered() || Unread().size() >= kReadAheadBytes) return true;
  }
  end_of_input_ = true;
  return progress;
}

void Connection::Consume(std::size_t size) {
  in_start_ += size;
  if (in_start_ < in_.size()) return;
  in_start_ = 0;
  // A large request must not leave its buffer behind on an idle connection.
  if (in_.capacity() > kReadAheadBytes) {
    in_ = std::string();
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

Task<bool> Connection::Write(std::vector<std::string_view> pieces) {
  std::size_t first = 0;
  SkipBytes(pieces, first, std::exchange(ahead_, 0));
  while (first < pieces.size()) {
    if (closed_) co_return false;
    if (pieces[first].empty()) {
      ++first;
      continue;
    }
    const long size = transport_->TryWrite(std::span<const std::string_view>(pieces).subspan(first));
    if (size == Transport::kWouldBlock) {
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
    SkipBytes(pieces, first, static_cast<std::size_t>(size));
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
  } else {
    on_disconnect_ = std::move(callback);
  }
}

void Connection::NotifyDisconnect() {
  if (const auto callback = std::exchange(on_disconnect_, nullptr)) callback();
}

void Connection::Cut() {
  if (std::exchange(closed_, true)) return;
  EndHandshake();
  transport_->Close();
  NotifyDisconnect();
}

void Connection::SetDeadline(std::chrono::milliseconds from_now) { deadline_ = Clock::System().Steady() + from_now; }

void Connection::CheckDeadline(SteadyTime now) {
  if (now >= deadline_) Cut();
}

}  // namespace apimesh::http
