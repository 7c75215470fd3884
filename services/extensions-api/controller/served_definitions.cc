#include "services/extensions-api/controller/served_definitions.h"

namespace apimesh::extensions_api {

void ServedDefinitions::Put(const std::string& name, ServedDefinition definition) {
  const std::lock_guard lock(mutex_);
  known_[name] = {std::move(definition), false};
}

void ServedDefinitions::Remove(const std::string& name) {
  const std::lock_guard lock(mutex_);
  known_.erase(name);
}

void ServedDefinitions::Wake(const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (const auto found = known_.find(name); found != known_.end()) found->second.current = true;
  const auto [first, last] = waiting_.equal_range(name);
  for (auto it = first; it != last; ++it) it->second->Wake();
  waiting_.erase(first, last);
}

bool ServedDefinitions::Contains(const std::string& name, std::string_view uid) const {
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(name);
  return found != known_.end() && found->second.definition.uid == uid && !found->second.definition.resources.empty();
}

Task<std::vector<meta::Gvr>> ServedDefinitions::Wait(std::shared_ptr<ServedDefinitions> self, std::string name,
                                                     std::string uid, SteadyTime deadline) {
  for (;;) {
    const std::shared_ptr<Wakeup> wakeup = Wakeup::New();
    {
      const std::lock_guard lock(self->mutex_);
      const auto found = self->known_.find(name);
      if (found != self->known_.end() && found->second.current && found->second.definition.uid == uid)
        co_return found->second.definition.resources;
      self->waiting_.emplace(name, wakeup);
    }
    const bool woken = co_await Wakeup::Wait(wakeup, deadline);
    if (woken) continue;
    const std::lock_guard lock(self->mutex_);
    const auto [first, last] = self->waiting_.equal_range(name);
    for (auto it = first; it != last; ++it) {
      if (it->second != wakeup) continue;
      self->waiting_.erase(it);
      break;
    }
    co_return std::vector<meta::Gvr>();
  }
}

}  // namespace apimesh::extensions_api
