#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "lib/base/async/signal.h"
#include "lib/base/async/task.h"
#include "lib/base/clock.h"
#include "lib/http/message_parser.h"
#include "lib/http/server.h"
#include "lib/http/server_shared.h"
#include "lib/net/transport.h"

namespace apimesh::http {

class Connection;
class Http2Calls;
class Http2Connection;

/// One I/O thread. Its connections never move to another thread, so their state needs no locks.
struct Worker {
  boost::asio::io_context io{1};
  std::unordered_set<Connection*> connections;  // used on this thread only
  std::list<Connection*> handshakes;            // unfinished ones, oldest first; used on this thread only
  std::atomic<int> load{0};
};

/// One client connection: it reads requests and runs the handler for one after the other, on its worker's thread. If
/// the client has chosen HTTP/2, an Http2Connection does the work. It lives as long as Run(), a tunnel made from it, or
/// an HTTP/2 request.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::shared_ptr<ServerShared> shared, Worker& worker, std::unique_ptr<net::Transport> transport,
             std::shared_ptr<net::Peer> peer);
  ~Connection();

  /// Serves the connection until it ends.
  Task<> Run();
  /// Closes the socket now; operations that wait for it end.
  void Cut();
  /// Called periodically; closes the connection if its deadline has passed.
  void CheckDeadline(SteadyTime now);
  /// Accepts no more requests. An idle connection is closed.
  void Drain();
  /// Whether it serves no request, so that it can be closed to make room for others. Connections that have waited
  /// longest are closed first.
  bool Expendable() const { return !busy_ && !closed_; }
  SteadyTime WaitsSince() const { return since_; }

  // For the answer and for tunnels.
  /// `sources` are the shared bytes to which pieces refer, if some of these may be in revocable memory. They must stay
  /// alive until Write() returns.
  Task<bool> Write(std::vector<std::string_view> pieces, std::span<const SharedBytes> sources = {});
  /// Writes as much as possible without waiting. If it returns false, the caller must call Write() with the same bytes.
  bool TryWrite(std::string_view bytes);
  Task<std::string> ReadRaw();
  void SetDisconnectCallback(std::function<void()> callback);
  void BecomeTunnel() { tunnel_ = true; }
  const Limits& GetLimits() const { return shared_->limits; }
  const Clock& GetClock() const { return shared_->clock; }
  bool Draining() const { return shared_->draining; }

 private:
  friend class RequestBody;

  Task<> ServeHttp2();
  void CheckHttp2(SteadyTime now);
  Task<bool> Handshake();
  void BeginHandshake();
  void EndHandshake();
  Task<bool> ReadHead(RequestParser& parser);
  Task<bool> ServeOne();
  Task<> Refuse(ParseFailure failure);
  bool HoldHead(std::size_t bytes);
  Task<> Linger();

  // Waits until more input is received; returns false at the end of the stream.
  Task<bool> ReadMore();
  // Keeps a wait for input pending, also while a handler runs, to detect that the client disconnects.
  void WatchInput();
  void OnReadable();
  bool Fill();
  void NotifyDisconnect();
  std::string_view Unread() const { return std::string_view(in_).substr(in_start_); }
  void Consume(std::size_t size);
  void SetDeadline(std::chrono::milliseconds from_now);
  void ClearDeadline() { deadline_ = SteadyTime::max(); }
  /// At `deadline`, ReadMore() returns false, and the connection stays open.
  void ExpireReadAt(SteadyTime deadline);
  bool InputEnded() const { return closed_ || end_of_input_; }

  std::shared_ptr<ServerShared> shared_;
  Worker& worker_;
  std::unique_ptr<net::Transport> transport_;  // with HTTP/2, http2_ has it
  std::shared_ptr<net::Peer> peer_;
  std::shared_ptr<Http2Connection> http2_;
  std::weak_ptr<Http2Calls> calls_;  // of http2_

  std::string in_;  // received bytes; those before in_start_ are consumed
  std::size_t in_start_ = 0;
  bool end_of_input_ = false;
  bool watching_input_ = false;
  bool reader_waits_ = false;
  bool closed_ = false;
  std::size_t ahead_ = 0;  // bytes of the next Write() that TryWrite() has written
  bool idle_ = true;
  bool busy_ = false;                // serves a request, or is a tunnel
  SteadyTime since_;                 // the beginning of the current wait
  std::size_t held_head_bytes_ = 0;  // its part of ServerShared::head_bytes
  bool tunnel_ = false;
  std::optional<std::list<Connection*>::iterator> handshake_;  // in worker_.handshakes
  Signal readable_;
  Signal writable_;
  std::function<void()> on_disconnect_;
  SteadyTime deadline_ = SteadyTime::max();
  bool only_read_expires_ = false;  // at deadline_, only the read ends
};

}  // namespace apimesh::http
