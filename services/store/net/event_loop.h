#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "services/store/net/patience.h"

struct epoll_event;

/// The transport of the store: one thread, one epoll, gRPC over nghttp2.
namespace apimesh::store {

/// What epoll reports for one file descriptor.
class FdHandler {
 public:
  virtual ~FdHandler() = default;
  virtual void OnEvents(std::uint32_t events) = 0;
};

/// The store's only request thread. Everything that touches keys, watchers, leases or sockets runs on it, so none of
/// that needs a lock. A turn is: wait, handle what is ready, then the end-of-turn steps (hand writes to the log, flush
/// sockets), which is what makes one system call serve many requests.
/// Only Post() and Stop() may be called from other threads.
class EventLoop {
 public:
  using Callback = std::function<void()>;
  using Time = std::chrono::steady_clock::time_point;
  using TimerId = std::pair<Time, std::uint64_t>;

  EventLoop();
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  void Run();
  void Stop();
  void Post(Callback callback);

  void Add(int fd, std::uint32_t events, FdHandler* handler);
  void Modify(int fd, std::uint32_t events, FdHandler* handler);
  void Remove(int fd);

  TimerId After(std::chrono::steady_clock::duration delay, Callback callback);
  void Cancel(TimerId id);

  /// How many times a file descriptor was found ready: unchanged means that no client wanted anything meanwhile.
  std::uint64_t FdEvents() const { return fd_events_; }
  /// Whether some file descriptor is ready right now.
  bool AnyReady() const;

  /// Steps that run, in the order they were added, after the events of every turn.
  void AtEndOfTurn(Callback step) { end_of_turn_.push_back(std::move(step)); }
  /// Keeps `object` alive until the turn is over, so that a handler may let go of itself.
  void DestroyAfterTurn(std::shared_ptr<void> object) { graveyard_.push_back(std::move(object)); }

 private:
  int Wait(epoll_event* events, int room);
  int Look(epoll_event* events, int room);
  void RunPosted();
  void RunTimers();
  int MillisecondsToNextTimer() const;

  int epoll_ = -1;
  int wake_ = -1;
  bool stop_ = false;
  std::uint64_t next_timer_ = 0;
  std::uint64_t fd_events_ = 0;
  Patience patience_;
  long switches_ = 0;  // to other threads that wanted this core, as of the last check; 0: it has slept since
  std::map<TimerId, Callback> timers_;
  std::vector<Callback> end_of_turn_;
  std::vector<std::shared_ptr<void>> graveyard_;
  std::mutex mutex_;
  std::vector<Callback> posted_;  // guarded by mutex_
};

}  // namespace apimesh::store
