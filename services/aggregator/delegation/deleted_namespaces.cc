#include "services/aggregator/delegation/deleted_namespaces.h"

namespace apimesh::aggregator {

void DeletedNamespaces::Add(const std::string& name, SteadyTime now) {
  const std::lock_guard lock(mutex_);
  std::erase_if(until_, [now](const auto& entry) { return entry.second <= now; });
  until_[name] = now + kRemembered;
  last_.store(now + kRemembered, std::memory_order_release);
}

bool DeletedNamespaces::Contains(const std::string& name, SteadyTime now) const {
  if (last_.load(std::memory_order_acquire) <= now) return false;
  const std::lock_guard lock(mutex_);
  const auto found = until_.find(name);
  return found != until_.end() && now < found->second;
}

}  // namespace apimesh::aggregator
