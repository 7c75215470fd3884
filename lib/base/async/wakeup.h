#pragma once

#include <functional>
#include <memory>
#include <mutex>

#include "lib/base/async/task.h"
#include "lib/base/clock.h"

namespace apimesh {

/// Lets one coroutine sleep until it is woken from any thread or a deadline passes. It can be used only once; every
/// sleep needs a new one. Thread-safe.
class Wakeup : public std::enable_shared_from_this<Wakeup> {
 public:
  static std::shared_ptr<Wakeup> New() { return std::make_shared<Wakeup>(); }

  /// Returns true if it was woken, possibly before the call, and false if the deadline passed or the coroutine was
  /// cancelled. Resumes on the executor from which it was awaited.
  static Task<bool> Wait(std::shared_ptr<Wakeup> wakeup, SteadyTime deadline = SteadyTime::max());
  /// The same with a deadline that is `timeout` from now.
  static Task<bool> WaitFor(std::shared_ptr<Wakeup> wakeup, Duration timeout);

  /// The sleeping coroutine is never resumed inside this call.
  void Wake() { Complete(true); }

  struct Sleep;

 private:
  void Complete(bool woken);

  std::mutex mutex_;
  bool done_ = false;
  bool woken_ = false;
  std::shared_ptr<Sleep> sleep_;
};

/// Sleeps until `deadline`.
Task<> SleepUntil(SteadyTime deadline);
/// Sleeps for `duration`. A caller that only pauses uses this function and needs no clock.
Task<> SleepFor(Duration duration);

}  // namespace apimesh
