#include "lib/storage/follower.h"

#include <algorithm>

#include "lib/base/async/wakeup.h"
#include "lib/base/log.h"

namespace apimesh::storage {
namespace {

constexpr auto kPause = std::chrono::milliseconds(100);  // between two watches

}  // namespace

Task<> Follower::Run(std::shared_ptr<Follower> self, Callbacks callbacks) {
  for (;;) {
    const meta::Result<> ended = co_await self->FollowOnce(callbacks);
    if (self->Stopped()) co_return;
    if (!ended) log::Info("following {}: {}", self->name_, ended.error().Message());
    co_await SleepFor(kPause);
  }
}

Task<meta::Result<>> Follower::FollowOnce(const Callbacks& callbacks) {
  const meta::RequestContext ctx;
  WatchOptions options;
  options.match = VersionMatch::kNotOlderThan;
  options.send_initial_events = true;
  options.mark_initial_events_end = true;
  ASSIGN_OR_CO_RETURN(std::unique_ptr<Watcher> opened, co_await store_->Watch(ctx, options));
  const std::shared_ptr<Watcher> watcher = std::move(opened);
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) co_return meta::Result<>();
    watcher_ = watcher;
  }
  callbacks.opened();
  for (;;) {
    std::vector<Event> events = co_await watcher->Next();
    if (events.empty() || Stopped()) co_return meta::Result<>();
    const auto error =
        std::find_if(events.begin(), events.end(), [](const Event& one) { return one.type == Event::Type::kError; });
    meta::Result<> result;
    if (error != events.end()) {
      result = error->error;
      events.erase(error, events.end());
    }
    if (!events.empty()) co_await callbacks.events(std::move(events));
    if (!result) co_return result;
  }
}

void Follower::Stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  if (watcher_) watcher_->Stop();
}

bool Follower::Stopped() {
  const std::lock_guard lock(mutex_);
  return stopped_;
}

}  // namespace apimesh::storage
