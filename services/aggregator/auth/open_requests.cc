#include "services/aggregator/auth/open_requests.h"

namespace apimesh::aggregator {

struct OpenRequests::Entry {
  struct Place {
    FactPtr fact;
    std::list<Entry*>::iterator position;
  };
  std::vector<Place> places;  // guarded by the mutex, as is `end`
  std::function<void()> end;
};

namespace {

constexpr SteadyTime kNoDeadline = SteadyTime::max();

}  // namespace

std::shared_ptr<void> OpenRequests::Add(Grounds grounds, std::function<void()> end, SteadyTime now) {
  auto entry = std::make_shared<Entry>();
  entry->end = std::move(end);
  std::vector<FactPtr> facts;
  auto credentials = std::make_shared<Fact>();
  credentials->key = KeyOf(grounds.credentials);
  credentials->credentials = std::move(grounds.credentials);
  credentials->credentials.deadline = kNoDeadline;
  credentials->user = std::move(grounds.user);
  facts.push_back(std::move(credentials));
  for (AuthorizationQuestion& question : grounds.permissions) {
    auto permission = std::make_shared<Fact>();
    permission->key = KeyOf(question);
    permission->permission = std::move(question);
    permission->permission.deadline = kNoDeadline;
    facts.push_back(std::move(permission));
  }
  const std::lock_guard lock(registry_->mutex);
  for (FactPtr& fact : facts) {
    fact->confirmed = now;
    // If the fact exists already, the request shares it, and the new one is dropped.
    Facts& known = registry_->facts[static_cast<int>(KindOf(*fact))];
    const FactPtr& shared = known.try_emplace(fact->key, fact).first->second;
    shared->dependents.push_back(entry.get());
    entry->places.push_back({shared, std::prev(shared->dependents.end())});
  }
  ++registry_->requests;
  return std::shared_ptr<void>(nullptr, [registry = registry_, entry = std::move(entry)](void*) {
    const std::lock_guard unlock(registry->mutex);
    entry->end = nullptr;
    registry->Remove(*entry);
    --registry->requests;
  });
}

void OpenRequests::Registry::Remove(Entry& entry) {
  for (const Entry::Place& place : entry.places) {
    place.fact->dependents.erase(place.position);
    Facts& known = facts[static_cast<int>(KindOf(*place.fact))];
    const auto found = known.find(place.fact->key);
    if (place.fact->dependents.empty() && found != known.end() && found->second == place.fact) known.erase(found);
  }
  entry.places.clear();
}

void OpenRequests::Registry::Fail(const FactPtr& fact) {
  // Removes each request from all its facts, so that it is ended only once. Removing the last request also removes the
  // fact from the index.
  while (!fact->dependents.empty()) {
    Entry& entry = *fact->dependents.front();
    Remove(entry);
    if (const auto end = std::exchange(entry.end, nullptr)) end();
  }
}

std::vector<OpenRequests::FactPtr> OpenRequests::ConfirmedBefore(Kind kind, SteadyTime time) const {
  std::vector<FactPtr> found;
  const std::lock_guard lock(registry_->mutex);
  for (const auto& [key, fact] : registry_->facts[static_cast<int>(kind)]) {
    if (fact->confirmed < time) found.push_back(fact);
  }
  return found;
}

void OpenRequests::Confirm(const FactPtr& fact, SteadyTime time) {
  const std::lock_guard lock(registry_->mutex);
  fact->confirmed = std::max(fact->confirmed, time);
}

void OpenRequests::Fail(const FactPtr& fact) {
  const std::lock_guard lock(registry_->mutex);
  registry_->Fail(fact);
}

std::size_t OpenRequests::FailConfirmedBefore(SteadyTime time) {
  std::size_t count = 0;
  for (const Kind kind : {Kind::kCredentials, Kind::kPermissions}) {
    for (const FactPtr& fact : ConfirmedBefore(kind, time)) {
      Fail(fact);  // locks per fact, so that requests can start and end meanwhile
      ++count;
    }
  }
  return count;
}

std::size_t OpenRequests::Requests() const {
  const std::lock_guard lock(registry_->mutex);
  return registry_->requests;
}

}  // namespace apimesh::aggregator
