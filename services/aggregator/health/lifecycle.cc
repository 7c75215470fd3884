#include "services/aggregator/health/lifecycle.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "lib/base/async/wakeup.h"

namespace apimesh::aggregator {

namespace {
constexpr std::chrono::milliseconds kStep{20};
}  // namespace

std::size_t Lifecycle::EndSome(std::size_t most) {
  const std::lock_guard lock(registry_->mutex);
  std::size_t left = 0;
  for (std::function<void()>& callback : registry_->callbacks) {
    if (!callback) continue;
    if (most == 0) {
      ++left;
    } else {
      --most;
      std::exchange(callback, nullptr)();
    }
  }
  return left;
}

Task<> Lifecycle::EndOver(std::shared_ptr<Lifecycle> self, Duration duration, const Clock& clock) {
  const SteadyTime begin = clock.Steady();
  const auto total = static_cast<double>(self->EndSome(0));
  std::size_t ended = 0;
  for (;;) {
    const Duration elapsed = clock.Steady() - begin;
    if (elapsed >= duration) break;
    const double part = std::chrono::duration<double>(elapsed) / std::chrono::duration<double>(duration);
    const auto due = static_cast<std::size_t>(total * part);
    if (due > ended && self->EndSome(due - ended) == 0) co_return;
    ended = due;
    co_await SleepFor(std::min<Duration>(kStep, duration - elapsed));
  }
  self->EndSome(std::numeric_limits<std::size_t>::max());
}

std::shared_ptr<void> Lifecycle::OnDrain(std::function<void()> end) {
  const std::lock_guard lock(registry_->mutex);
  const auto place = registry_->callbacks.insert(registry_->callbacks.end(), std::move(end));
  if (draining_) std::exchange(*place, nullptr)();
  return std::shared_ptr<void>(nullptr, [registry = registry_, place](void*) {
    const std::lock_guard unlock(registry->mutex);
    registry->callbacks.erase(place);
  });
}

bool IsHealthPath(std::string_view path) {
  for (const std::string_view root : {"/healthz", "/livez", "/readyz"}) {
    if (path == root || (path.starts_with(root) && path[root.size()] == '/')) return true;
  }
  return false;
}

}  // namespace apimesh::aggregator
