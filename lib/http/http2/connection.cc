#include "lib/http/http2/connection.h"

#include <boost/asio/post.hpp>

#include "lib/http/http2/flush_queue.h"

namespace apimesh::http {
namespace {

constexpr std::size_t kReadBytes = 128 << 10;
constexpr int kReadsPerTurn = 16;
constexpr std::size_t kWrittenPerTurn = 4 << 20;
constexpr std::size_t kLingerBytes = 4 << 20;

}  // namespace

std::shared_ptr<Http2Connection> Http2Connection::Start(boost::asio::any_io_executor executor,
                                                        std::unique_ptr<net::Transport> transport,
                                                        Http2Options options) {
  std::shared_ptr<Http2Connection> connection(
      new Http2Connection(std::move(executor), std::move(transport), std::move(options)));
  connection->FlushSoon();
  connection->WaitReadable();
  if (connection->keepalive_interval_.count() > 0) connection->KeepAlive();
  return connection;
}

Http2Connection::Http2Connection(boost::asio::any_io_executor executor, std::unique_ptr<net::Transport> transport,
                                 Http2Options options)
    : executor_(std::move(executor)),
      transport_(std::move(transport)),
      on_closed_(std::move(options.closed)),
      on_unresponsive_(std::move(options.unresponsive)),
      on_heard_(std::move(options.heard)),
      keepalive_interval_(options.keepalive),
      session_(SessionOptionsOf(options)),
      keepalive_(executor_),
      clock_(options.clock),
      flush_queue_(FlushQueue::Of(executor_)) {}

http2::SessionOptions Http2Connection::SessionOptionsOf(Http2Options& options) {
  return {.clock = options.clock,
          .server = options.server,
          .accept = [this, accept = std::move(options.accept)] { return accept(executor_); },
          .wants_write = [this] { FlushSoon(); },
          .limits = options.limits};
}

void Http2Connection::WaitReadable() {
  transport_->WaitReadable([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->OnReadable();
  });
}

void Http2Connection::OnReadable() {
  if (closed_) return;
  if (lingering_) return Discard();
  thread_local char buffer[kReadBytes];
  received_ = true;
  int reads = 0;
  for (; reads < kReadsPerTurn; ++reads) {
    const long size = transport_->TryRead(buffer, sizeof(buffer));
    if (size == net::Transport::kWouldBlock) break;
    if (size <= 0) return Close("connection closed");
    if (on_heard_) std::exchange(on_heard_, nullptr)();
    const bool good = session_.Receive({buffer, static_cast<std::size_t>(size)});
    if (closed_) return;
    if (!good) {
      Flush();  // a GOAWAY with the reason
      return Close(session_.Error());
    }
    // The read did not fill the buffer, so there is no more input; another attempt would cost a system call.
    if (static_cast<std::size_t>(size) < sizeof(buffer) && !transport_->Buffered()) break;
  }
  Flush();
  if (closed_) return;
  if (lingering_) return WaitReadable();
  if (waiting_writable_ && session_.TooManyQueuedFrames()) return Close("the peer does not read");
  if (reads < kReadsPerTurn || !transport_->Buffered()) return WaitReadable();
  // The rest of the input is in the buffer of TLS, so the socket may never be readable again.
  boost::asio::post(executor_, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->OnReadable();
  });
}

void Http2Connection::FlushSoon() {
  if (flush_posted_ || waiting_writable_ || closed_) return;
  flush_posted_ = true;
  flush_queue_.Add(weak_from_this(), executor_);
}

void Http2Connection::Flush() {
  if (flushing_ || waiting_writable_ || closed_ || lingering_) return;
  flushing_ = true;
  std::size_t written = 0;
  for (;;) {
    const auto pieces = session_.Output();
    if (closed_ || pieces.empty()) break;
    if (written >= kWrittenPerTurn) {  // lets other connections of this thread run
      FlushSoon();
      break;
    }
    const long size = transport_->TryWrite(pieces);
    if (size == net::Transport::kWouldBlock) {
      WaitWritable();
      break;
    }
    if (size <= 0) {
      Close("connection closed");
      break;
    }
    session_.Written(static_cast<std::size_t>(size));
    written += static_cast<std::size_t>(size);
    stalled_since_ = SteadyTime::max();
  }
  flushing_ = false;
  if (closed_) return;
  if (!session_.Error().empty()) return Close(session_.Error());
  if (session_.Finished()) End();
}

void Http2Connection::WaitWritable() {
  waiting_writable_ = true;
  if (stalled_since_ == SteadyTime::max()) stalled_since_ = clock_.Steady();
  transport_->WaitWritable([weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    self->waiting_writable_ = false;
    self->Flush();
  });
}

/// Ends the connection after both sides have sent everything.
void Http2Connection::End() {
  if (linger_.count() == 0) return Close("both sides have ended the connection");
  lingering_ = true;
  session_.Terminate();
  transport_->ShutdownWrite();
  keepalive_.expires_after(linger_);
  keepalive_.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
    const auto self = weak.lock();
    if (!error && self) self->Close("both sides have ended the connection");
  });
}

void Http2Connection::Discard() {
  thread_local char buffer[kReadBytes];
  const long size = transport_->TryRead(buffer, sizeof(buffer));
  discarded_ += size > 0 ? static_cast<std::size_t>(size) : 0;
  const bool ended = size <= 0 && size != net::Transport::kWouldBlock;
  if (ended || discarded_ > kLingerBytes) return Close("both sides have ended the connection");
  WaitReadable();
}

void Http2Connection::CloseIfStalledSince(SteadyTime limit) {
  if (waiting_writable_ && stalled_since_ <= limit) Close("the peer does not read");
}

void Http2Connection::KeepAlive() {
  keepalive_.expires_after(keepalive_interval_);
  keepalive_.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
    const auto self = weak.lock();
    if (error || !self || self->closed_) return;
    if (self->received_ || !self->session_.HasStreams()) {
      self->pinged_ = false;
    } else if (self->pinged_) {
      if (self->on_unresponsive_) self->on_unresponsive_();
      return self->Close("the peer does not answer a PING");
    } else {
      self->pinged_ = true;
      self->session_.Ping();
    }
    self->received_ = false;
    self->KeepAlive();
  });
}

void Http2Connection::Close(const std::string& why) {
  if (std::exchange(closed_, true)) return;
  const auto self = shared_from_this();
  const std::string reason = why;  // a copy, because `why` may belong to the session that ends here
  keepalive_.cancel();
  transport_->Close();
  session_.Terminate();
  if (on_closed_) on_closed_(reason);
}

}  // namespace apimesh::http
