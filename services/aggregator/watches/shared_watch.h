#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "lib/base/clock.h"
#include "lib/http/server.h"
#include "lib/http/signal.h"
#include "lib/rpc/delegate.h"

namespace apimesh::aggregator {

/// One upstream watch that many clients follow, each at its own place. Everything happens on one thread.
class SharedWatch final : public rpc::ResponseStream, public std::enable_shared_from_this<SharedWatch> {
 public:
  /// Takes what comes right when it comes.
  class Receiver {
   public:
    virtual ~Receiver() = default;
    /// False: the rest has to wait, and the follower is to take the same frame by itself.
    virtual bool TryWrite(const http::Chunk& chunk) = 0;
  };
  /// A client that follows. It must leave before it goes.
  struct Follower {
    std::uint64_t place = 0;      // what it has seen
    bool wants_bookmarks = false;
    Receiver* receiver = nullptr;  // nullptr: busy, and takes by itself what comes
    http::Signal changed;         // something is there to be taken, or the watch is over
    std::uint64_t next = 0;       // number of its next frame
    std::size_t seat = 0;         // among all that follow
  };
  struct Taken {
    enum class State {
      kOpen,      // more will come
      kLost,      // what comes next is not here: the follower has to go on by itself
      kFinished,  // nothing comes after `frames`, here or anywhere
    };
    State state = State::kOpen;
    std::vector<SharedBytes> frames;
    std::uint64_t place = 0;  // after `frames`
  };

  /// `begin`: the place the upstream watch starts after. `ended` runs once when nobody can join any more.
  SharedWatch(std::uint64_t begin, std::function<void()> ended) : base_(begin), ended_(std::move(ended)) {}

  /// False: it begins too late for this follower, or is over.
  bool Join(Follower& follower);
  void Leave(Follower& follower);
  Taken Take(Follower& follower);

  /// The upstream watch came to its end.
  void End();
  /// The thread ends: nothing is told to anyone any more.
  void Detach() { ended_ = cancel_ = nullptr; }

  // ---- the upstream watch writes here
  Task<bool> WriteHead(int code, rpc::Headers headers) override;
  Task<bool> Write(std::vector<SharedBytes> pieces) override;
  Task<bool> WriteEvents(std::vector<SharedBytes> pieces, rpc::WatchPlace place) override;
  void OnCancel(std::function<void()> callback) override { cancel_ = std::move(callback); }
  void Abort() override { unfinished_.clear(); }

 private:
  struct Frame {
    http::Chunk chunk;
    rpc::WatchPlace place;
    SteadyTime time;
  };
  /// Frames that came together, for all followers that wait for the first of them.
  struct News {
    std::uint64_t begin = 0, end = 0;  // numbers of the frames, without `end`
    std::uint64_t first_revision = 0, last_revision = 0;
    http::Chunk all, without_bookmarks;
  };
  void Close();
  void Trim();
  News TakeNews();
  /// Tells all followers: hands them `news`, if there are any, or wakes them up.
  void TellAll(const News* news);
  void TellNews();
  static bool Hand(Follower& follower, const News& news);

  std::uint64_t base_;  // all that comes after this place is in frames_ or still to come
  std::function<void()> ended_;
  std::function<void()> cancel_;
  std::deque<Frame> frames_;
  std::uint64_t first_ = 0;  // number of frames_.front()
  std::uint64_t told_ = 0;   // number of the first frame that followers have not been told of
  std::size_t untold_bytes_ = 0;
  bool tells_soon_ = false;
  std::size_t bytes_ = 0;
  std::vector<SharedBytes> unfinished_;  // of a revision whose end has not come yet; at the end: the last words
  std::vector<Follower*> seats_;  // nullptr: left while all were being told
  std::size_t followers_ = 0;
  bool telling_ = false;
  bool over_ = false;
};

}  // namespace apimesh::aggregator
