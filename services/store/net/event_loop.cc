#include "services/store/net/event_loop.h"

#include <cerrno>
#include <system_error>

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

namespace apimesh::store {
namespace {

int CheckFd(int fd, const char* what) {
  if (fd < 0) throw std::system_error(errno, std::generic_category(), what);
  return fd;
}

// Returns the number of involuntary context switches of this thread.
long SwitchesToOthers() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw;
}

}  // namespace

EventLoop::EventLoop(const Clock& clock)
    : clock_(clock),
      epoll_(CheckFd(epoll_create1(EPOLL_CLOEXEC), "epoll_create1")),
      wake_(CheckFd(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), "eventfd")) {
  Add(wake_, EPOLLIN, nullptr);
}

EventLoop::~EventLoop() {
  close(wake_);
  close(epoll_);
}

void EventLoop::Add(int fd, std::uint32_t events, FdHandler* handler) {
  epoll_event event{.events = events, .data = {.ptr = handler}};
  CheckFd(epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event), "epoll_ctl");
}

void EventLoop::Modify(int fd, std::uint32_t events, FdHandler* handler) {
  epoll_event event{.events = events, .data = {.ptr = handler}};
  CheckFd(epoll_ctl(epoll_, EPOLL_CTL_MOD, fd, &event), "epoll_ctl");
}

void EventLoop::Remove(int fd) { epoll_ctl(epoll_, EPOLL_CTL_DEL, fd, nullptr); }

void EventLoop::Post(Callback callback) {
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    wake = posted_.empty();
    posted_.push_back(std::move(callback));
  }
  if (wake) {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(wake_, &one, sizeof one);
  }
}

void EventLoop::Stop() {
  Post([this] { stop_ = true; });
}

EventLoop::TimerId EventLoop::After(Duration delay, Callback callback) {
  const TimerId id{clock_.Steady() + delay, next_timer_++};
  timers_.emplace(id, std::move(callback));
  return id;
}

void EventLoop::Cancel(TimerId id) { timers_.erase(id); }

int EventLoop::MillisecondsToNextTimer() const {
  if (timers_.empty()) return -1;
  const auto left = timers_.begin()->first.first - clock_.Steady();
  if (left.count() <= 0) return 0;
  return static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(left).count());
}

bool EventLoop::AnyReady() const {
  epoll_event event;
  return epoll_wait(epoll_, &event, 1, 0) > 0;
}

void EventLoop::RunPosted() {
  std::vector<Callback> ready;
  {
    const std::lock_guard lock(mutex_);
    ready.swap(posted_);
  }
  for (Callback& callback : ready) callback();
}

void EventLoop::RunTimers() {
  const auto now = clock_.Steady();
  while (!timers_.empty() && timers_.begin()->first.first <= now) {
    const Callback callback = std::move(timers_.begin()->second);
    timers_.erase(timers_.begin());
    callback();
  }
}

// Busy polling: returns the number of ready events, or 0 if there were none during BusyPolling::kPollTime and the loop
// should sleep.
int EventLoop::Look(epoll_event* events, int room) {
  if (busy_polling_.ShouldCheck()) {
    const long switches = SwitchesToOthers(), before = std::exchange(switches_, switches);
    if (before != 0) busy_polling_.SwitchesToOthers(switches - before);
  }
  const auto start = clock_.Steady();
  do {
    if (const int count = epoll_wait(epoll_, events, room, 0); count != 0) {
      busy_polling_.Found();
      return count;
    }
  } while (clock_.Steady() - start < BusyPolling::kPollTime);
  busy_polling_.PolledInVain();
  return 0;
}

int EventLoop::Wait(epoll_event* events, int room) {
  const int timeout = MillisecondsToNextTimer();
  if (busy_polling_.ShouldPoll() && timeout != 0) {
    if (const int count = Look(events, room); count != 0) return count;
  }
  switches_ = 0;
  const auto start = clock_.Steady();
  const int count = epoll_wait(epoll_, events, room, timeout);
  busy_polling_.Slept(clock_.Steady() - start);
  return count;
}

void EventLoop::Run() {
  epoll_event events[256];
  while (!stop_) {
    const int count = Wait(events, std::size(events));
    if (count < 0 && errno != EINTR) throw std::system_error(errno, std::generic_category(), "epoll_wait");
    for (int i = 0; i < count; ++i) {
      if (events[i].data.ptr != nullptr) {
        ++fd_events_;
        static_cast<FdHandler*>(events[i].data.ptr)->OnEvents(events[i].events);
        continue;
      }
      std::uint64_t ignored = 0;
      [[maybe_unused]] const ssize_t got = read(wake_, &ignored, sizeof ignored);
      RunPosted();
    }
    if (!timers_.empty()) RunTimers();
    for (const Callback& step : end_of_turn_) step();
    destroyed_after_turn_.clear();
  }
}

}  // namespace apimesh::store
