#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "lib/base/clock.h"
#include "services/store/net/busy_polling.h"

struct epoll_event;

/// The transport of the store: one thread with one epoll instance, and gRPC over nghttp2.
namespace apimesh::store {

/// Receives the epoll events of one file descriptor.
class FdHandler {
 public:
  virtual ~FdHandler() = default;
  virtual void OnEvents(std::uint32_t events) = 0;
};

/// The store's only request thread. All code that uses keys, watchers, leases or sockets runs on it and needs no locks.
/// In each iteration (a "turn"), the loop waits, handles the ready events, and then runs the end-of-turn steps, which
/// pass writes to the log and flush the sockets. In this way one system call serves many requests. Only Post() and
/// Stop() may be called from other threads.
class EventLoop {
 public:
  using Callback = std::function<void()>;
  using TimerId = std::pair<SteadyTime, std::uint64_t>;

  /// `clock` measures the timers.
  explicit EventLoop(const Clock& clock);
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  void Run();
  void Stop();
  void Post(Callback callback);

  void Add(int fd, std::uint32_t events, FdHandler* handler);
  void Modify(int fd, std::uint32_t events, FdHandler* handler);
  void Remove(int fd);

  TimerId After(Duration delay, Callback callback);
  void Cancel(TimerId id);

  const Clock& GetClock() const { return clock_; }

  /// Returns how many times a file descriptor was ready. If the number has not changed, no client has sent anything in
  /// the meantime.
  std::uint64_t FdEvents() const { return fd_events_; }
  /// Whether any file descriptor is ready now.
  bool AnyReady() const;

  /// Adds a step that runs after the events of every turn. Steps run in the order in which they were added.
  void AtEndOfTurn(Callback step) { end_of_turn_.push_back(std::move(step)); }
  /// Keeps `object` alive until the end of the turn, so that a handler can release itself.
  void DestroyAfterTurn(std::shared_ptr<void> object) { destroyed_after_turn_.push_back(std::move(object)); }

 private:
  int Wait(epoll_event* events, int room);
  int Look(epoll_event* events, int room);
  void RunPosted();
  void RunTimers();
  int MillisecondsToNextTimer() const;

  const Clock& clock_;
  int epoll_ = -1;
  int wake_ = -1;
  bool stop_ = false;
  std::uint64_t next_timer_ = 0;
  std::uint64_t fd_events_ = 0;
  BusyPolling busy_polling_;
  long switches_ = 0;  // involuntary context switches at the last check; 0 after the loop has slept
  std::map<TimerId, Callback> timers_;
  std::vector<Callback> end_of_turn_;
  std::vector<std::shared_ptr<void>> destroyed_after_turn_;
  std::mutex mutex_;
  std::vector<Callback> posted_;  // guarded by mutex_
};

}  // namespace apimesh::store
