#include "lib/service/sharding/shard.h"

#include <algorithm>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lib/base/async/wait_until.h"
#include "lib/base/log.h"

namespace apimesh::service {
namespace {

/// The time in which aggregators learn that the groups are withdrawn.
constexpr std::chrono::milliseconds kWithdrawalTime{1000};
constexpr const char* kHook = "announce-shard";

/// Returns the description with the given groups only.
mesh::Description Filtered(const mesh::Description& description, const std::vector<std::string>& groups) {
  mesh::Description filtered;
  filtered.etag = description.etag;
  for (const mesh::GroupVersionPtr& version : description.group_versions) {
    const std::string_view name = version->group.empty() ? std::string_view("core") : version->group;
    if (std::find(groups.begin(), groups.end(), name) != groups.end()) filtered.group_versions.push_back(version);
  }
  return filtered;
}

/// Waits until all other checks pass, then announces the shard.
Task<> AnnounceWhenReady(std::shared_ptr<Shard> shard, const HealthChecks& health, std::string groups) {
  const std::string own_check = fmt::format("poststarthook/{}", kHook);
  const std::function<bool()> ready = [&health, &own_check] { return health.Ready(own_check); };
  co_await WaitUntil(ready);
  shard->Announce();
  log::Info("announced the groups {}", groups);
}

}  // namespace

Shard::Shard(std::shared_ptr<mesh::DelegateHandler> server, std::vector<std::string> groups)
    : server_(std::move(server)), groups_(std::move(groups)) {}

void Shard::Announce() {
  const std::lock_guard lock(listeners_->mutex);
  if (listeners_->state != State::kHidden) return;
  listeners_->state = State::kAnnounced;
  for (const auto& [number, listener] : listeners_->all) {
    if (listener->known) listener->changed(listener->newest);
  }
}

bool Shard::Withdraw() {
  const std::lock_guard lock(listeners_->mutex);
  const bool was_announced = listeners_->state == State::kAnnounced;
  listeners_->state = State::kWithdrawn;
  for (const auto& [number, listener] : listeners_->all) listener->changed(mesh::Description());
  return was_announced && !listeners_->all.empty();
}

std::shared_ptr<void> Shard::Describe(std::function<void(mesh::Description)> changed) {
  const auto listener = std::make_shared<Listener>();
  listener->changed = std::move(changed);
  std::uint64_t number = 0;
  {
    const std::lock_guard lock(listeners_->mutex);
    number = listeners_->next++;
    listeners_->all[number] = listener;
    if (listeners_->state == State::kWithdrawn) listener->changed(mesh::Description());
  }
  auto subscription = server_->Describe([listeners = listeners_, listener, groups = groups_](mesh::Description all) {
    mesh::Description filtered = Filtered(all, groups);
    const std::lock_guard lock(listeners->mutex);
    listener->newest = std::move(filtered);
    listener->known = true;
    if (listeners->state == State::kAnnounced) listener->changed(listener->newest);
  });
  return std::shared_ptr<void>(nullptr, [listeners = listeners_, number, subscription](void*) mutable {
    subscription.reset();  // no callback runs after this
    const std::lock_guard lock(listeners->mutex);
    listeners->all.erase(number);
  });
}

std::shared_ptr<mesh::DelegateHandler> ServeAsShard(Runtime& runtime, std::shared_ptr<mesh::DelegateHandler> server,
                                                    std::vector<std::string> groups) {
  const std::string names = fmt::format("{}", fmt::join(groups, ", "));
  const auto shard = std::make_shared<Shard>(std::move(server), std::move(groups));
  const HealthChecks& health = runtime.Health();
  runtime.PostStart(kHook, [shard, &health, names] { return AnnounceWhenReady(shard, health, names); });
  runtime.OnDrain([shard](std::chrono::milliseconds) {
    if (shard->Withdraw()) std::this_thread::sleep_for(kWithdrawalTime);
  });
  return shard;
}

}  // namespace apimesh::service
