#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "lib/base/async/signal.h"
#include "lib/base/clock.h"
#include "lib/http/server.h"
#include "lib/mesh/delegate/delegate.h"
#include "services/aggregator/metrics/watch_events.h"

namespace apimesh::aggregator {

/// One upstream watch that many clients follow, each at its own position. Must be used on one thread only.
class SharedWatch final : public mesh::ResponseStream, public std::enable_shared_from_this<SharedWatch> {
 public:
  /// Delivers frames to a client as soon as they are read from the upstream stream.
  class Receiver {
   public:
    virtual ~Receiver() = default;
    /// Writes as much as is possible without waiting. False: the chunk was not written completely; the follower has to
    /// take the same frames with TakePending() and write them.
    virtual bool TryWrite(const http::Chunk& chunk) = 0;
  };
  /// A client that follows the watch. It must call Leave() before it is destroyed.
  struct Follower {
    std::uint64_t position = 0;  // everything up to this revision was written to the client
    bool wants_bookmarks = false;
    WatchEventMetrics* metrics = nullptr;  // the same for all followers of a watch; nullptr: not measured
    Receiver* receiver = nullptr;          // nullptr: the client is writing and will call TakePending()
    Signal changed;                        // TakePending() has new frames, or the upstream has ended
    std::uint64_t next = 0;                // the number of its next frame
    std::size_t slot = 0;                  // its index in followers_
  };
  struct Pending {
    enum class State {
      kOpen,      // more frames will follow
      kLost,      // the next frames are not available: the follower has to catch up from its position
      kFinished,  // the watch ends after `frames`
    };
    State state = State::kOpen;
    std::vector<SharedBytes> frames;
    WatchEventSizes events;      // of the events in `frames`
    std::uint64_t position = 0;  // the follower's position after `frames`
  };

  /// `begin`: the position after which the upstream watch starts. `on_closed` runs once, when no client can join any
  /// more.
  SharedWatch(std::uint64_t begin, std::function<void()> on_closed, const Clock& clock)
      : clock_(clock), base_(begin), on_closed_(std::move(on_closed)) {}

  /// Returns false if the next events of this follower are no longer available, or if the upstream has ended.
  bool Join(Follower& follower);
  void Leave(Follower& follower);
  /// Returns all frames that the follower has not received yet, in order.
  Pending TakePending(Follower& follower);

  /// Ends the upstream watch. The followers catch up with another server.
  void Interrupt() {
    interrupted_ = true;
    Close();
  }
  /// Must be called when the upstream watch has ended.
  void End();
  /// The thread ends: no callback runs any more.
  void Detach() { on_closed_ = cancel_ = nullptr; }

  // ---- called by the upstream watch
  Task<bool> WriteHead(int code, mesh::Headers headers) override;
  Task<bool> Write(std::vector<SharedBytes> pieces) override;
  Task<bool> WriteEvents(std::vector<SharedBytes> pieces, mesh::ResumePosition position) override;
  void OnCancel(std::function<void()> callback) override {
    if (interrupted_) return callback();
    cancel_ = std::move(callback);
  }
  void Abort() override { partial_.clear(); }

 private:
  struct Frame {
    http::Chunk chunk;
    mesh::ResumePosition position;
    SteadyTime time;
    WatchEventSizes events;
  };
  /// Frames that are sent together to all followers that wait for the first of them.
  struct Batch {
    std::uint64_t begin = 0, end = 0;  // numbers of the frames, `end` excluded
    std::uint64_t first_revision = 0, last_revision = 0;
    http::Chunk all, without_bookmarks;
    WatchEventSizes events, events_without_bookmarks;
  };
  void Close();
  void Trim();
  Batch NextBatch();
  /// Delivers `batch` to all followers that wait for it, and wakes the others. nullptr: wakes all followers.
  void Broadcast(const Batch* batch);
  void BroadcastBatch();
  /// How many followers got each chunk of a batch.
  struct Delivered {
    std::size_t all = 0, without_bookmarks = 0;
  };
  static bool TryDeliver(Follower& follower, const Batch& batch, Delivered& delivered);

  const Clock& clock_;
  std::uint64_t base_;  // every event after this position is in frames_ or will arrive
  std::function<void()> on_closed_;
  std::function<void()> cancel_;
  std::deque<Frame> frames_;
  std::uint64_t first_ = 0;           // number of frames_.front()
  std::uint64_t next_broadcast_ = 0;  // the number of the first frame that was not broadcast yet
  std::size_t unsent_bytes_ = 0;
  bool broadcast_scheduled_ = false;
  std::size_t bytes_ = 0;
  std::vector<SharedBytes> partial_;  // of an incomplete revision; after the end: the final message
  std::vector<Follower*> followers_;  // nullptr: left during a broadcast
  std::size_t follower_count_ = 0;
  bool broadcasting_ = false;
  bool upstream_ended_ = false;
  bool interrupted_ = false;
};

}  // namespace apimesh::aggregator
