#pragma once

#include <functional>
#include <memory>

#include <boost/asio/steady_timer.hpp>

#include "lib/mesh/delegate/delegate.h"
#include "services/aggregator/edge/exchange.h"
#include "services/aggregator/watches/shared_watch.h"

namespace apimesh::aggregator {

/// A client's watch through all its phases, with its resume position and its end. While the client catches up, it
/// receives the stream of the group server. Must be used on the thread of the client's connection only.
class ClientWatch final : public mesh::ResponseStream,
                          private SharedWatch::Receiver,
                          public std::enable_shared_from_this<ClientWatch> {
 public:
  ClientWatch(Exchange& exchange, boost::asio::any_io_executor executor, bool wants_bookmarks);

  /// Returns whether the phase that just ended has reached a resume position. False: the watch cannot continue.
  bool TakeCaughtUp() { return std::exchange(caught_up_, false) && !stopped_; }
  /// Returns true once, shortly before the end of the watch, if the client wants bookmarks: a final bookmark is due.
  bool TakeFinalBookmarkDue() { return std::exchange(final_bookmark_due_, false); }
  /// Forwards the events of `shared` until it ends or no longer has them. True: the watch has to catch up from
  /// Position().
  Task<bool> Follow(SharedWatch& shared);

  SharedWatch::Follower& AsFollower() { return follower_; }
  std::uint64_t Position() const { return follower_.position; }
  bool Aborted() const { return aborted_; }
  /// Whether the response was not a stream but an error, which is complete.
  bool Refused() const { return refused_; }

  /// Must be called when the client has disconnected, the watch has timed out, or the server stops.
  void Stop();
  /// Cancels the timer.
  void Close();

  // ---- one phase
  Task<bool> WriteHead(int code, mesh::Headers headers) override;
  Task<bool> WriteComplete(mesh::Response response) override;
  Task<bool> Write(std::vector<SharedBytes> pieces) override {
    if (follower_.metrics) CountEvents(*follower_.metrics, pieces);
    return exchange_.reply.Write(std::move(pieces));
  }
  Task<bool> WriteEvents(std::vector<SharedBytes> pieces, mesh::ResumePosition position) override;
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
  std::function<void()> cancel_;  // cancels the current phase
  bool caught_up_ = false;
  bool refused_ = false;
  bool final_bookmark_due_ = false;
  bool stopped_ = false;
  bool aborted_ = false;
};

}  // namespace apimesh::aggregator
