#include "lib/admission/webhooks/breaker.h"

namespace apimesh::admission::webhooks {

std::optional<std::string> Breaker::Refuse(SteadyTime now) {
  const std::lock_guard lock(mutex_);
  if (timeouts_ < kTimeouts) return std::nullopt;
  if (now < next_try_) return last_message_;
  next_try_ = now + kPause;
  return std::nullopt;
}

void Breaker::Succeeded() {
  const std::lock_guard lock(mutex_);
  timeouts_ = 0;
  failing_since_.reset();
}

void Breaker::Failed(SteadyTime now, std::string message, bool slow) {
  const std::lock_guard lock(mutex_);
  timeouts_ = slow ? timeouts_ + 1 : 0;
  if (timeouts_ == kTimeouts) next_try_ = now + kPause;
  last_message_ = std::move(message);
  if (!failing_since_) failing_since_ = now;
}

bool Breaker::Open() const {
  const std::lock_guard lock(mutex_);
  return timeouts_ >= kTimeouts;
}

std::optional<SteadyTime> Breaker::FailingSince() const {
  const std::lock_guard lock(mutex_);
  return failing_since_;
}

}  // namespace apimesh::admission::webhooks
