#pragma once

#include <boost/asio/io_context.hpp>

#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "lib/base/clock.h"
#include "lib/base/task.h"
#include "lib/http/message_parser.h"
#include "lib/http/server.h"
#include "lib/http/signal.h"
#include "lib/http/transport.h"

namespace apimesh::http {

class Connection;

/// What all connections of a server share.
struct ServerShared {
  Limits limits;
  Handler handler;
  std::atomic<bool> draining{false};
  std::atomic<int> connections{0};
  std::atomic<std::size_t> open{0};        // of these, the ones whose socket is open
  std::atomic<std::size_t> head_bytes{0};  // received of heads that are not complete
  std::function<void()> make_room;         // closes some connections that serve no request; callable from any thread
};

/// One io thread. Its connections never leave it, so nothing of theirs is locked.
struct Worker {
  boost::asio::io_context io{1};
  std::unordered_set<Connection*> connections;  // touched on this thread only
  std::list<Connection*> handshakes;            // the unfinished ones, oldest first; touched on this thread only
  std::atomic<int> load{0};
};

/// One client: reads requests, runs the handler, one after the other. Everything happens on its worker's thread.
/// It lives as long as Run() or a tunnel made from it.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::shared_ptr<ServerShared> shared, Worker& worker, std::unique_ptr<Transport> transport, std::shared_ptr<Peer> peer);
  ~Connection();

  /// The whole life of the connection.
  Task<> Run();
  /// Closes the socket now; whatever waits for it ends.
  void Cut();
  /// Called every now and then: cuts the connection if it has been waiting for too long.
  void CheckDeadline(SteadyTime now);
  bool Idle() const { return idle_; }
  /// Whether it serves no request, and can be closed to make room for others; the longer it waits, the sooner.
  bool Expendable() const { return !busy_ && !closed_; }
  SteadyTime WaitsSince() const { return since_; }

  // For the answer and for tunnels.
  Task<bool> Write(std::vector<std::string_view> pieces);
  /// As much of Write() as can be done without waiting. False: Write() must follow, with the same bytes.
  bool TryWrite(std::string_view bytes);
  Task<std::string> ReadRaw();
  void Guard(std::function<bool()> intact) { transport_->Guard(std::move(intact)); }
  void SetDisconnectCallback(std::function<void()> callback);
  void BecomeTunnel() { tunnel_ = true; }
  const Limits& GetLimits() const { return shared_->limits; }
  bool Draining() const { return shared_->draining; }

 private:
  friend class RequestBody;

  Task<bool> Handshake();
  void BeginHandshake();
  void EndHandshake();
  Task<bool> ReadHead(RequestParser& parser);
  Task<bool> ServeOne();
  Task<> Refuse(ParseFailure failure);
  bool HoldHead(std::size_t bytes);
  Task<> Linger();

  // Waits until more has come in; false at the end of the stream.
  Task<bool> ReadMore();
  // Keeps a wait for input pending, also while a handler runs: that is how we learn that the client went away.
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
  std::unique_ptr<Transport> transport_;
  std::shared_ptr<Peer> peer_;

  std::string in_;  // what came in and is not used yet, from in_start_ on
  std::size_t in_start_ = 0;
  bool end_of_input_ = false;
  bool watching_input_ = false;
  bool reader_waits_ = false;
  bool closed_ = false;
  std::size_t ahead_ = 0;  // bytes of the next Write() that TryWrite() has written
  bool idle_ = true;
  bool busy_ = false;  // with a request, or as a tunnel
  SteadyTime since_;   // when it began to wait for what it waits for
  std::size_t held_head_bytes_ = 0;  // in ServerShared::head_bytes
  bool tunnel_ = false;
  std::optional<std::list<Connection*>::iterator> handshake_;  // in worker_.handshakes
  Signal readable_;
  Signal writable_;
  std::function<void()> on_disconnect_;
  SteadyTime deadline_ = SteadyTime::max();
  bool only_read_expires_ = false;  // at deadline_
};

}  // namespace apimesh::http
