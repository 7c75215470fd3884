#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "lib/h2/frame_limit.h"
#include "lib/h2/stream.h"
#include "lib/http/transport.h"

struct nghttp2_session;
struct nghttp2_session_callbacks;

namespace apimesh::h2 {

struct SessionOptions {
  bool server = false;
  /// Makes the stream of a call that comes in.
  std::function<std::shared_ptr<Stream>()> accept;
  /// Once, when the connection has ended, after OnClosed() of all its streams.
  std::function<void(const std::string& why)> closed;
  /// With calls under way and nothing heard for so long, the other side is asked for a sign of life. 0: never.
  std::chrono::milliseconds keepalive{0};
  std::size_t max_message_bytes = std::size_t{64} << 20;
  /// What the other side may send on a stream before the receiver takes it; for gRPC in addition to the message under way.
  std::uint32_t stream_window = 384 << 10;
};

/// One HTTP/2 connection that carries gRPC. It lives on one executor, which runs on one thread; what is written during
/// one turn of it goes out in one system call.
class Session : public std::enable_shared_from_this<Session> {
 public:
  static std::shared_ptr<Session> Start(boost::asio::any_io_executor executor, std::unique_ptr<http::Transport> transport,
                                        SessionOptions options);
  ~Session();

  /// Client: begins a call. False: this connection takes no more calls.
  bool Open(const std::shared_ptr<Stream>& stream, const MetadataViews& headers);
  /// Server: the head of an answer. `last`: there is nothing else.
  void Respond(Stream& stream, const Metadata& headers, bool last);
  /// Takes no new calls, and ends when the last one has.
  void GoAway();
  void Close(const std::string& why);
  bool Closed() const { return closed_; }
  bool TakesCalls() const { return !closed_ && !going_away_; }
  std::size_t Calls() const { return streams_.size(); }
  const boost::asio::any_io_executor& Executor() const { return executor_; }
  std::vector<std::shared_ptr<Stream>> Streams() const;

 private:
  friend class Stream;
  struct Callbacks;

  Session(boost::asio::any_io_executor executor, std::unique_ptr<http::Transport> transport, SessionOptions options);
  void Begin();
  void WaitReadable();
  void OnReadable();
  /// Sends what there is at the end of this turn of the executor.
  void FlushSoon();
  void Flush();
  bool Gather();
  bool WriteOut();
  void Adopt(std::int32_t id, const std::shared_ptr<Stream>& stream);
  void Forget(std::int32_t id, std::uint32_t error_code);
  Stream* Find(std::int32_t id) const;
  void EndIfDrained();
  void KeepAlive();

  const boost::asio::any_io_executor executor_;
  const std::unique_ptr<http::Transport> transport_;
  SessionOptions options_;
  nghttp2_session* session_ = nullptr;
  std::unordered_map<std::int32_t, std::shared_ptr<Stream>> streams_;
  std::vector<std::int32_t> unsent_;  // opened, and nothing was written to the socket since
  FrameLimit limit_;
  boost::asio::steady_timer keepalive_;
  bool heard_ = true;
  bool pinged_ = false;

  // What is to be written: bytes of our own in `gathered_`, between them pieces that others own.
  struct Part {
    SharedBytes bytes;         // empty: the next `size` bytes of gathered_
    std::size_t size = 0;
  };
  std::vector<Part> out_;
  std::string gathered_;
  std::size_t out_bytes_ = 0;
  std::size_t written_ = 0;  // of out_, so far
  std::vector<std::shared_ptr<Stream>> drained_;
  bool flush_posted_ = false;
  bool receiving_ = false;
  bool flushing_ = false;
  bool waiting_writable_ = false;
  bool going_away_ = false;
  bool closed_ = false;
};

}  // namespace apimesh::h2
