#pragma once

#include <functional>
#include <memory>
#include <mutex>

#include "lib/base/clock.h"
#include "lib/base/task.h"

namespace apimesh {

/// Lets one coroutine sleep until anyone wakes it or a deadline passes. For one use: make a new one for the next sleep.
/// Thread-safe.
class Wakeup : public std::enable_shared_from_this<Wakeup> {
 public:
  static std::shared_ptr<Wakeup> New() { return std::make_shared<Wakeup>(); }

  /// True: woken, perhaps before the call. False: the deadline passed or the coroutine was cancelled.
  /// Resumes on the executor it was awaited from.
  static Task<bool> Wait(std::shared_ptr<Wakeup> wakeup, SteadyTime deadline = SteadyTime::max());

  /// Never resumes the sleeper inside the call.
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

}  // namespace apimesh
