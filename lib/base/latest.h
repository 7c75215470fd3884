#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "lib/base/wakeup.h"

namespace apimesh {

/// What has changed since one reader last looked: changes that come faster than it reads become one. Thread-safe.
template <class T>
class Latest {
 public:
  /// `change` works on what the reader has not taken yet, a T{} if it has taken all.
  template <class Change>
  void Update(Change change) {
    Tell([&] {
      if (!next_) next_.emplace();
      change(*next_);
    });
  }
  /// The reader gets nullopt from now on, and does not rest any longer.
  void End() {
    Tell([&] { ended_ = true; });
    std::unique_lock lock(mutex_);
    const auto resting = std::exchange(resting_, nullptr);
    lock.unlock();
    if (resting) resting->Wake();
  }

  /// For a reader that wants to be told less often: sleeps until then, unless it all ends.
  static Task<> Rest(std::shared_ptr<Latest> self, SteadyTime until) {
    const auto wakeup = Wakeup::New();
    {
      const std::lock_guard lock(self->mutex_);
      if (self->ended_) co_return;
      self->resting_ = wakeup;
    }
    co_await Wakeup::Wait(wakeup, until);
  }

  static Task<std::optional<T>> Next(std::shared_ptr<Latest> self) {
    for (;;) {
      const auto wakeup = Wakeup::New();
      {
        const std::lock_guard lock(self->mutex_);
        if (self->ended_) co_return std::nullopt;
        if (self->next_) co_return std::exchange(self->next_, std::nullopt);
        self->reader_ = wakeup;
      }
      co_await Wakeup::Wait(wakeup);
    }
  }

 private:
  template <class F>
  void Tell(F f) {
    std::unique_lock lock(mutex_);
    f();
    const auto waiting = std::exchange(reader_, nullptr);
    lock.unlock();
    if (waiting) waiting->Wake();
  }

  std::mutex mutex_;
  std::optional<T> next_;           // guarded by mutex_, as all below
  std::shared_ptr<Wakeup> reader_;  // set: it sleeps
  std::shared_ptr<Wakeup> resting_;
  bool ended_ = false;
};

}  // namespace apimesh
