#include "services/aggregator/health/lifecycle.h"

namespace apimesh::aggregator {

void Lifecycle::BeginDrain() {
  draining_ = true;
  const std::lock_guard lock(registry_->mutex);
  for (const auto& end : registry_->callbacks) end();
}

std::shared_ptr<void> Lifecycle::OnDrain(std::function<void()> end) {
  const std::lock_guard lock(registry_->mutex);
  registry_->callbacks.push_back(std::move(end));
  const auto place = std::prev(registry_->callbacks.end());
  if (draining_) (*place)();
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
