#pragma once

#include <boost/asio/steady_timer.hpp>

#include <functional>
#include <memory>

#include "lib/rpc/delegate.h"
#include "services/aggregator/edge/exchange.h"
#include "services/aggregator/watches/shared_watch.h"

namespace apimesh::aggregator {

/// A client's watch, from its head to its end, through all phases: where it stands, and when it is over. It is the end of
/// the stream while the client catches up by itself. Everything happens on the thread of the client's connection.
class ClientWatch final : public rpc::ResponseStream, private SharedWatch::Receiver, public std::enable_shared_from_this<ClientWatch> {
 public:
  ClientWatch(Exchange& exchange, boost::asio::any_io_executor executor, bool wants_bookmarks);

  /// Whether the phase that just ended has reached a place to go on from. False: there is nothing to go on with.
  bool TakeCaughtUp() { return std::exchange(caught_up_, false) && !stopped_; }
  /// Shortly before the end, once, for clients that want bookmarks: the time to tell it where it stands.
  bool TakeFarewell() { return std::exchange(farewell_due_, false); }
  /// Hands on what `shared` has, as long as it has it. True: the watch goes on from Place() by itself.
  Task<bool> Follow(SharedWatch& shared);

  SharedWatch::Follower& AsFollower() { return follower_; }
  std::uint64_t Place() const { return follower_.place; }
  bool Aborted() const { return aborted_; }

  /// The client is gone, its time is up, or the server stops.
  void Stop();
  /// No more timers.
  void Close();

  // ---- one phase
  Task<bool> WriteHead(int code, rpc::Headers headers) override;
  Task<bool> Write(std::vector<SharedBytes> pieces) override { return exchange_.reply.Write(std::move(pieces)); }
  Task<bool> WriteEvents(std::vector<SharedBytes> pieces, rpc::WatchPlace place) override;
  void OnCancel(std::function<void()> callback) override;
  void Abort() override;

 private:
  bool TryWrite(const http::Chunk& chunk) override { return exchange_.reply.TryWrite(chunk); }
  void EndAfter(std::chrono::milliseconds timeout);
  void Arm(SteadyTime when);

  Exchange& exchange_;
  SharedWatch::Follower follower_;
  boost::asio::steady_timer timer_;
  SteadyTime end_ = SteadyTime::max();
  std::function<void()> cancel_;  // ends the phase
  bool caught_up_ = false;
  bool farewell_due_ = false;
  bool stopped_ = false;
  bool aborted_ = false;
};

}  // namespace apimesh::aggregator
