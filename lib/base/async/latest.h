#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "lib/base/async/wakeup.h"

namespace apimesh {

/// The changes since one reader last read them. Changes that are faster than the reader are merged into one.
/// Thread-safe.
template <class T>
class Latest {
 public:
  /// `change` is applied to the value that the reader has not read yet, or to a T{} if it has read everything.
  template <class Change>
  void Update(Change change) {
    Apply([&] {
      if (!next_) next_.emplace();
      change(*next_);
    });
  }
  /// Next() returns nullopt from now on, and a current Rest() ends.
  void End() {
    Apply([&] { ended_ = true; });
    std::unique_lock lock(mutex_);
    const auto resting = std::exchange(resting_, nullptr);
    lock.unlock();
    if (resting) resting->Wake();
  }

  /// For a reader that wants fewer updates: sleeps for `duration`, or until End() is called.
  static Task<> Rest(std::shared_ptr<Latest> self, Duration duration) {
    const auto wakeup = Wakeup::New();
    {
      const std::lock_guard lock(self->mutex_);
      if (self->ended_) co_return;
      self->resting_ = wakeup;
    }
    co_await Wakeup::WaitFor(wakeup, duration);
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
  void Apply(F f) {
    std::unique_lock lock(mutex_);
    f();
    const auto waiting = std::exchange(reader_, nullptr);
    lock.unlock();
    if (waiting) waiting->Wake();
  }

  std::mutex mutex_;
  std::optional<T> next_;           // guarded by mutex_, as all below
  std::shared_ptr<Wakeup> reader_;  // set while the reader waits
  std::shared_ptr<Wakeup> resting_;
  bool ended_ = false;
};

}  // namespace apimesh
