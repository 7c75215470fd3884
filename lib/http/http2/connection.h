#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "lib/http2/session.h"
#include "lib/net/transport.h"

namespace apimesh::http {

/// Makes the stream of a request. `executor` is the connection's and lives as long as the connection.
using StreamFactory = std::function<std::shared_ptr<http2::Stream>(const boost::asio::any_io_executor& executor)>;

struct Http2Options {
  const Clock& clock;
  bool server = false;
  /// Server: makes the stream of each request.
  StreamFactory accept;
  /// Called once when the connection has ended, after OnClosed() of all its streams.
  std::function<void(const std::string& why)> closed;
  /// If streams are open and nothing was received for this long, a PING is sent; if nothing is received for the same
  /// time again, the connection is closed. 0: never.
  std::chrono::milliseconds keepalive{0};
  /// Called before the connection is closed because nothing was received for that time.
  std::function<void()> unresponsive;
  /// Called once, when the first bytes were received.
  std::function<void()> heard;
  http2::Limits limits;
};

class FlushQueue;

/// An HTTP/2 session on a socket, driven by Asio. It is used on one executor, which runs on one thread. All bytes that
/// are written during one turn of the executor are sent in one system call, with TLS also those of several connections.
class Http2Connection : public std::enable_shared_from_this<Http2Connection> {
 public:
  static std::shared_ptr<Http2Connection> Start(boost::asio::any_io_executor executor,
                                                std::unique_ptr<net::Transport> transport, Http2Options options);

  /// Client: begins a request. Returns false if this connection accepts no more requests.
  bool Open(const std::shared_ptr<http2::Stream>& stream, const http2::HeaderViews& headers) {
    return session_.Open(stream, headers);
  }
  /// Accepts no new requests, and closes the connection when the last one has ended.
  void GoAway() { session_.GoAway(); }
  void Close(const std::string& why);
  /// Before it closes the connection because both sides have ended it, this side reads and discards the input for at
  /// most `time`: closing a socket with unread input would reset it, and the peer could lose the last responses.
  void SetLinger(std::chrono::milliseconds time) { linger_ = time; }
  /// Closes the connection if bytes wait since before `limit`, and the peer has accepted none of them since then.
  void CloseIfStalledSince(SteadyTime limit);
  bool Closed() const { return closed_; }
  bool TakesRequests() const { return session_.TakesRequests(); }
  std::vector<std::shared_ptr<http2::Stream>> Streams() const { return session_.Streams(); }
  const boost::asio::any_io_executor& Executor() const { return executor_; }

 private:
  friend class FlushQueue;
  Http2Connection(boost::asio::any_io_executor executor, std::unique_ptr<net::Transport> transport,
                  Http2Options options);
  http2::SessionOptions SessionOptionsOf(Http2Options& options);
  void WaitReadable();
  void OnReadable();
  /// Writes all pending output at the end of this turn of the executor.
  void FlushSoon();
  void Flush();
  void WaitWritable();
  void KeepAlive();
  void End();
  void Discard();

  const boost::asio::any_io_executor executor_;
  const std::unique_ptr<net::Transport> transport_;
  const std::function<void(const std::string& why)> on_closed_;
  const std::function<void()> on_unresponsive_;
  std::function<void()> on_heard_;
  const std::chrono::milliseconds keepalive_interval_;
  http2::Session session_;
  boost::asio::steady_timer keepalive_;
  bool received_ = true;  // something was received since the last check
  bool pinged_ = false;
  bool flush_posted_ = false;
  bool flushing_ = false;
  bool waiting_writable_ = false;
  bool closed_ = false;
  bool lingering_ = false;
  std::chrono::milliseconds linger_{0};
  std::size_t discarded_ = 0;                     // bytes, if lingering_
  SteadyTime stalled_since_ = SteadyTime::max();  // if waiting_writable_
  const Clock& clock_;
  FlushQueue& flush_queue_;
};

}  // namespace apimesh::http
