#include "services/authn-authz/state/revisions.h"

namespace apimesh::authn_authz {

// Shared with the handles, which may outlive the Revisions.
struct Revisions::Listeners {
  std::mutex mutex;
  std::uint64_t next = 0;
  std::map<std::uint64_t, std::function<void(const Change&)>> all;  // guarded by mutex
};

Revisions::Revisions(const Clock& clock)
    : current_(std::chrono::duration_cast<std::chrono::microseconds>(clock.Now().time_since_epoch()).count()),
      listeners_(std::make_shared<Listeners>()) {}

void Revisions::Bump(bool authentication, bool authorization) {
  const std::lock_guard lock(mutex_);
  Change change{current_.load() + 1, authentication, authorization};
  for (const auto& forget : before_) forget(change);
  current_.store(change.revision);
  const std::lock_guard listeners_lock(listeners_->mutex);
  for (const auto& [id, listener] : listeners_->all) listener(change);
}

void Revisions::BeforeBump(std::function<void(const Change&)> forget) {
  const std::lock_guard lock(mutex_);
  before_.push_back(std::move(forget));
}

std::shared_ptr<void> Revisions::Subscribe(std::function<void(const Change&)> listener) {
  const std::lock_guard lock(listeners_->mutex);
  const std::uint64_t id = listeners_->next++;
  listeners_->all.emplace(id, std::move(listener));
  const auto unsubscribe = [id, listeners = listeners_](void*) {
    const std::lock_guard inner(listeners->mutex);
    listeners->all.erase(id);
  };
  return std::shared_ptr<void>(listeners_.get(), unsubscribe);
}

}  // namespace apimesh::authn_authz
