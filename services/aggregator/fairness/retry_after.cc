#include "services/aggregator/fairness/retry_after.h"

#include <algorithm>

namespace apimesh::aggregator {
namespace {
// This many rejected requests per second of the current value double it.
constexpr int kManyPerSecond = 3;
}  // namespace

int RetryAfter::Reject(SteadyTime now) {
  const std::int64_t time = std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count();
  const std::lock_guard lock(mutex_);
  if (!history_.empty() && history_.back().time == time) {
    ++history_.back().rejected;
    return seconds_;
  }
  // The first request of a second decides from those before it.
  while (!history_.empty() && time - history_.front().time > std::min(2 * seconds_, kMaxSeconds)) history_.pop_front();
  int rejected = 0;
  for (const Second& second : history_) {
    if (time - second.time <= seconds_) rejected += second.rejected;
  }
  if (time - doubled_ >= seconds_ && rejected >= kManyPerSecond * seconds_) {
    seconds_ = std::min(2 * seconds_, kMaxSeconds);
    doubled_ = time;
  } else if (rejected < seconds_ && seconds_ > 1) {
    --seconds_;
  }
  history_.push_back({time, 1});
  return seconds_;
}

}  // namespace apimesh::aggregator
