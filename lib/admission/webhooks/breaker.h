#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "lib/base/clock.h"

namespace apimesh::admission::webhooks {

/// Keeps a webhook that does not answer from holding every request for its complete timeout. After several calls in a
/// row have timed out, calls fail at once with the message of the last failure, except for one call per second, which
/// finds out whether the webhook answers again. A failure has the same effect on its request as before, it is only
/// faster. Thread-safe.
///
/// It also knows since when a webhook has been failing.
class Breaker {
 public:
  static constexpr int kTimeouts = 3;                          // in a row, before calls fail at once
  static constexpr Duration kPause = std::chrono::seconds(1);  // between two calls that try again

  /// Returns nullopt if the webhook may be called; the caller then reports the outcome with Succeeded() or Failed().
  /// Otherwise returns the message of the last failure.
  std::optional<std::string> Refuse(SteadyTime now);
  /// Records that the webhook has answered, whatever the answer was.
  void Succeeded();
  /// Records that the webhook could not be called. `slow` is true if the call has timed out.
  void Failed(SteadyTime now, std::string message, bool slow);

  bool Open() const;
  /// Returns when the first of the calls failed that have failed since the last answer; nullopt if the last call has
  /// been answered.
  std::optional<SteadyTime> FailingSince() const;

 private:
  mutable std::mutex mutex_;  // guards all below
  int timeouts_ = 0;          // since the last call that did not time out
  SteadyTime next_try_{};     // of an open breaker
  std::string last_message_;
  std::optional<SteadyTime> failing_since_;
};

}  // namespace apimesh::admission::webhooks
