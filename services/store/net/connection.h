#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "lib/http2/session.h"
#include "services/store/net/byte_stream.h"
#include "services/store/net/call.h"
#include "services/store/net/event_loop.h"

namespace apimesh::store {

/// The connection of one client. It uses HTTP/2 (gRPC and plain GET), or HTTP/1.1 for probes and metrics. The protocol
/// is detected from the first bytes, so that one port serves both, as in etcd.
class Connection final : public FdHandler {
 public:
  struct Events {
    std::function<void(Connection&)> wants_flush;
    std::function<void(Connection&)> closed;
  };
  Connection(EventLoop& loop, std::unique_ptr<ByteStream> stream, const Routes& routes, Events events);
  ~Connection() override;

  void OnEvents(std::uint32_t ready) override;
  /// Writes the queued output. Called at the end of an iteration of the event loop.
  void Flush();
  /// Sends GOAWAY; active calls may finish. An HTTP/1.1 connection is closed.
  void GoAway();

  bool flush_pending = false;  // used by the listener's list of connections to flush

 private:
  void Receive();
  /// Dispatch(), ReceiveHttp2() and AnswerHttp1() return false if the connection must be closed.
  bool Dispatch(std::string_view bytes);
  void StartHttp2();
  bool ReceiveHttp2(std::string_view bytes);
  bool AnswerHttp1();
  std::span<const std::string_view> Output();
  void Written(std::size_t size);
  void Close();
  void WatchForWritable(bool wanted);

  EventLoop& loop_;
  std::unique_ptr<ByteStream> stream_;
  const Routes& routes_;
  Events events_;
  std::unique_ptr<http2::Session> http2_;
  bool http1_ = false;
  bool closed_ = false;
  bool close_after_write_ = false;
  bool watching_writable_ = false;
  std::string in_;              // HTTP/1.1 input, or the first bytes before the protocol is known
  std::string out_;             // HTTP/1.1 output
  std::string_view unwritten_;  // the part of out_ that is not yet written
};

}  // namespace apimesh::store
