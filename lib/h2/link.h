#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "lib/base/task.h"
#include "lib/h2/channel.h"
#include "lib/h2/client_stream.h"
#include "lib/h2/dial.h"
#include "lib/h2/session.h"

namespace apimesh::h2 {

/// The connections of one channel on one thread. Everything but Run() happens on that thread.
class Link : public std::enable_shared_from_this<Link> {
 public:
  Link(boost::asio::io_context& io, std::shared_ptr<const ChannelOptions> options, std::shared_ptr<http::ClientTls> tls);

  /// Runs `f` on the link's thread: at once if that is the calling one.
  template <class F>
  void Run(F f) {
    if (executor_.running_in_this_thread()) {
      f();
    } else {
      boost::asio::post(executor_, std::move(f));
    }
  }

  /// Begins the call, now or as soon as there is a connection; it fails if there is none to be had. If the server certainly
  /// has not seen it, it goes to another connection or replica, once.
  void Start(const std::shared_ptr<ClientStream>& stream);
  /// The same for a call that was refused, in a later turn: not from inside the session that refused it.
  void OpenSoon(std::shared_ptr<ClientStream> stream);
  boost::asio::io_context& Context() const { return executor_.context(); }
  /// Closes all connections; calls under way fail.
  void Close();

 private:
  struct Replica {
    Address address;
    std::shared_ptr<Session> session;
  };
  void Open(const std::shared_ptr<ClientStream>& stream);
  const Replica* Pick();
  Task<> Connect(std::shared_ptr<Link> self);
  Task<> ConnectOne(Replica& replica, std::string& why);
  void OpenWaiting();
  void FailWaiting(const std::string& why);
  void Retire(std::shared_ptr<Session> session);
  void Watch(SteadyTime deadline);
  void ExpireCalls();

  boost::asio::io_context::executor_type executor_;
  const std::shared_ptr<const ChannelOptions> options_;
  const std::shared_ptr<http::ClientTls> tls_;
  const bool named_;  // the target is a name, whose addresses may change
  std::vector<Replica> replicas_;
  std::vector<std::shared_ptr<Session>> leaving_;  // take no more calls, but have some
  std::size_t turn_ = 0;
  std::deque<std::shared_ptr<ClientStream>> waiting_;
  bool connecting_ = false;
  bool closed_ = false;
  int failures_ = 0;
  SteadyTime no_attempt_before_{};
  SteadyTime next_lookup_{};
  std::string last_failure_;
  boost::asio::steady_timer deadlines_;
  SteadyTime armed_for_ = SteadyTime::max();
};

/// The link of a channel on `io`, kept by the io_context until one of the two goes.
std::shared_ptr<Link> NewLink(boost::asio::io_context& io, std::shared_ptr<const ChannelOptions> options,
                              std::shared_ptr<http::ClientTls> tls);
void DropLink(const std::shared_ptr<Link>& link);

}  // namespace apimesh::h2
