#include "services/aggregator/fairness/follower.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

namespace apimesh::aggregator {
namespace {

constexpr Duration kRetry = std::chrono::seconds(30);  // of conditions that could not be written
// Changes that follow each other closely, such as those of the start, are applied together.
constexpr Duration kPause = std::chrono::milliseconds(20);

meta::Gvr ResourceOf(const char* plural) { return {"flowcontrol.apiserver.k8s.io", "v1", plural}; }

}  // namespace

FairnessFollower::FairnessFollower(Parts parts) : parts_(std::move(parts)), dangling_(parts_.core_api, parts_.clock) {}

void FairnessFollower::Start(std::shared_ptr<FairnessController> controller) {
  controller_ = std::move(controller);
  const auto weak = weak_from_this();
  const auto subscribe = [&](const char* plural, bool schema) {
    return parts_.objects->Subscribe(ResourceOf(plural), [weak, schema](const admission::Change& change) {
      if (const auto self = weak.lock()) self->Apply(schema, change);
    });
  };
  levels_ = subscribe("prioritylevelconfigurations", false);
  schemas_ = subscribe("flowschemas", true);
  boost::asio::co_spawn(parts_.executor, FollowObjects(shared_from_this()), boost::asio::detached);
  boost::asio::co_spawn(parts_.executor, RunTimers(shared_from_this()), boost::asio::detached);
}

void FairnessFollower::Stop() {
  stopped_ = true;
  changes_->End();
  PollAt(SteadyTime::min());
  schemas_.reset();
  levels_.reset();
}

void FairnessFollower::Apply(bool schema, const admission::Change& change) {
  {
    const std::lock_guard lock(mutex_);
    auto& objects = schema ? current_.schemas : current_.levels;
    const std::string name(change.object->Name());
    if (change.type == admission::Change::Type::kRemoved) {
      objects.erase(name);
    } else {
      objects[name] = change.object;
    }
  }
  changes_->Update([](Changed&) {});
}

FairnessObjects FairnessFollower::Current() const {
  const std::lock_guard lock(mutex_);
  return current_;
}

Task<> FairnessFollower::FollowObjects(std::shared_ptr<FairnessFollower> self) {
  for (;;) {
    const std::optional<Changed> change = co_await Latest<Changed>::Next(self->changes_);
    if (!change) co_return;
    co_await Latest<Changed>::Rest(self->changes_, kPause);
    if (self->stopped_) co_return;
    FairnessObjects objects = self->Current();
    self->controller_->Configure(objects);
    // Before both resources have been read, levels may only seem to be missing.
    const bool synced = self->levels_->Synced() && self->schemas_->Synced();
    if (synced) self->synced_ = true;
    bool again = !synced;
    if (synced) again = co_await self->dangling_.Write(objects);
    if (!again) continue;
    co_await Latest<Changed>::Rest(self->changes_, synced ? kRetry : kPause);
    self->changes_->Update([](Changed&) {});
  }
}

void FairnessFollower::PollAt(SteadyTime time) {
  const std::lock_guard lock(mutex_);
  if (time >= poll_at_) return;
  poll_at_ = time;
  if (timer_) timer_->Wake();
}

Task<> FairnessFollower::RunTimers(std::shared_ptr<FairnessFollower> self) {
  SteadyTime borrow_at = self->parts_.clock.Steady() + FairnessController::kBorrowingPeriod;
  self->runs_timers_ = true;
  while (!self->stopped_) {
    const auto timer = Wakeup::New();
    SteadyTime next = borrow_at;
    {
      const std::lock_guard lock(self->mutex_);
      self->timer_ = timer;
      next = std::min(next, self->poll_at_);
    }
    co_await Wakeup::Wait(timer, next);
    const SteadyTime now = self->parts_.clock.Steady();
    bool poll = false;
    {
      const std::lock_guard lock(self->mutex_);
      self->timer_ = nullptr;
      poll = self->poll_at_ <= now;
      if (poll) self->poll_at_ = SteadyTime::max();
    }
    if (poll) self->controller_->Poll();
    if (now < borrow_at) continue;
    self->controller_->Borrow();
    borrow_at = now + FairnessController::kBorrowingPeriod;
  }
}

}  // namespace apimesh::aggregator
