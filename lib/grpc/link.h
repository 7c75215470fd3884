#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "lib/base/async/task.h"
#include "lib/grpc/channel.h"
#include "lib/grpc/client_stream.h"
#include "lib/grpc/dial.h"
#include "lib/http/http2/connection.h"

namespace apimesh::grpc {

/// The connections of one channel on one thread. All methods except Run() must be called on that thread.
class Link : public std::enable_shared_from_this<Link> {
 public:
  Link(boost::asio::io_context& io, std::shared_ptr<const ChannelOptions> options, std::shared_ptr<net::ClientTls> tls);

  /// Runs `f` on the link's thread; immediately if that is the calling thread.
  template <class F>
  void Run(F f) {
    if (executor_.running_in_this_thread()) {
      f();
    } else {
      boost::asio::post(executor_, std::move(f));
    }
  }

  /// Begins the call, now or as soon as there is a connection; the call fails if no connection can be made. If the
  /// server has certainly not processed it, the call is sent again, on another connection or to another replica.
  void Start(const std::shared_ptr<ClientStream>& stream);
  /// The same for a refused call, in a later turn of the executor, because the session that refused it is still in a
  /// callback.
  void OpenSoon(std::shared_ptr<ClientStream> stream);
  boost::asio::io_context& Context() const { return executor_.context(); }
  /// Closes all connections; active calls fail.
  void Close();

 private:
  struct Replica {
    Address address;
    std::shared_ptr<http::Http2Connection> connection;
  };
  void Open(const std::shared_ptr<ClientStream>& stream);
  const Replica* Pick();
  Task<> Connect(std::shared_ptr<Link> self);
  Task<> ConnectOne(Replica& replica, std::string& why);
  void OpenWaiting();
  void FailWaiting(const std::string& why);
  void Retire(std::shared_ptr<http::Http2Connection> connection);
  /// Whether a replica has no connection for new calls.
  bool Incomplete() const;
  void ConnectSoon();
  void Watch(SteadyTime deadline);
  void ExpireCalls();

  boost::asio::io_context::executor_type executor_;
  const std::shared_ptr<const ChannelOptions> options_;
  const std::shared_ptr<net::ClientTls> tls_;
  const bool named_;  // the target is a name, whose addresses may change
  std::vector<Replica> replicas_;
  std::vector<std::shared_ptr<http::Http2Connection>> leaving_;  // accept no more calls, but still have some
  std::size_t turn_ = 0;
  std::deque<std::shared_ptr<ClientStream>> waiting_;
  bool connecting_ = false;
  bool hung_ = false;  // a replica accepts connections and does not respond
  bool closed_ = false;
  int failures_ = 0;
  SteadyTime no_attempt_before_{};
  SteadyTime next_lookup_{};
  std::string last_failure_;
  boost::asio::steady_timer deadlines_;
  SteadyTime armed_for_ = SteadyTime::max();
};

/// The link of a channel on `io`. The io_context keeps it until DropLink() is called or the io_context is destroyed.
std::shared_ptr<Link> NewLink(boost::asio::io_context& io, std::shared_ptr<const ChannelOptions> options,
                              std::shared_ptr<net::ClientTls> tls);
void DropLink(const std::shared_ptr<Link>& link);

}  // namespace apimesh::grpc
