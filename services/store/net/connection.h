#pragma once

#include <functional>
#include <memory>
#include <string>

#include "services/store/net/byte_stream.h"
#include "services/store/net/call.h"
#include "services/store/net/event_loop.h"
#include "services/store/net/h2_session.h"

namespace apimesh::store {

/// One client. Speaks HTTP/2 (gRPC, and plain GET), or HTTP/1.1 for probes and metrics; the first bytes tell which,
/// so that one port serves both, as etcd's does.
class Connection final : public FdHandler {
 public:
  struct Events {
    std::function<void(Connection&)> wants_flush;
    std::function<void(Connection&)> closed;
  };
  Connection(EventLoop& loop, std::unique_ptr<ByteStream> stream, const Routes& routes, Events events);
  ~Connection() override;

  void OnEvents(std::uint32_t ready) override;
  /// Writes what there is; called at the end of a turn.
  void Flush();
  /// Asks the peer to leave; calls that run may finish.
  void GoAway();

  bool flush_pending = false;  // belongs to the listener's list of connections to flush

 private:
  void Receive();
  bool Dispatch();
  bool AnswerHttp1();
  void Close();
  void WatchForWritable(bool wanted);

  EventLoop& loop_;
  std::unique_ptr<ByteStream> stream_;
  const Routes& routes_;
  Events events_;
  std::unique_ptr<H2Session> h2_;
  bool http1_ = false;
  bool closed_ = false;
  bool close_after_write_ = false;
  bool watching_writable_ = false;
  std::string in_, out_;
  std::size_t out_offset_ = 0;
};

}  // namespace apimesh::store
