#include "lib/externaljwt/key_cache.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "lib/base/async/wakeup.h"
#include "lib/base/log.h"

namespace apimesh::externaljwt {
namespace {

constexpr std::chrono::seconds kFetchTimeout{60}, kAfterFailure{10}, kMaxWait{10};
constexpr std::chrono::milliseconds kMinInterval{100};

bool Differ(const KeySet& a, const KeySet& b) {
  const auto same = [](const Key& x, const Key& y) {
    return x.id == y.id && x.published == y.published && x.key.KeyId() == y.key.KeyId();
  };
  return !std::equal(a.keys.begin(), a.keys.end(), b.keys.begin(), b.keys.end(), same);
}

}  // namespace

std::vector<Key> WithId(const KeySet& set, const std::string& id) {
  std::vector<Key> found;
  for (const Key& key : set.keys) {
    if (id.empty() || key.id == id) found.push_back(key);
  }
  return found;
}

KeyCache::KeyCache(std::shared_ptr<SignerService> service, KeySet first, const Clock& clock,
                   std::shared_ptr<CallMetrics> metrics)
    : service_(std::move(service)),
      clock_(clock),
      metrics_(std::move(metrics)),
      keys_(std::make_shared<const KeySet>(std::move(first))) {}

KeySetPtr KeyCache::Now() const {
  const std::lock_guard lock(mutex_);
  return keys_;
}

std::vector<Key> KeyCache::Known(const std::string& id) const { return WithId(*Now(), id); }

Task<std::vector<Key>> KeyCache::Find(std::string id) {
  std::vector<Key> found = Known(id);
  if (!found.empty()) co_return found;
  co_await WaitForFetch();
  found = Known(id);
  if (found.empty()) log::Debug("the external signer of tokens has no key with id {:?}", id.substr(0, 64));
  co_return found;
}

std::int64_t KeyCache::SecondsToRefresh() const {
  const auto left = std::chrono::duration_cast<std::chrono::seconds>(Now()->refresh_at - clock_.Steady()).count();
  return std::max<std::int64_t>(left, 0);
}

void KeyCache::OnChange(std::function<void()> changed) {
  const std::lock_guard lock(mutex_);
  listeners_.push_back(std::move(changed));
}

void KeyCache::Start(boost::asio::any_io_executor executor) {
  boost::asio::co_spawn(executor, Run(shared_from_this()), boost::asio::detached);
}

void KeyCache::Stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  if (asleep_) asleep_->Wake();
  for (const auto& waiter : waiting_) waiter->Wake();
  waiting_.clear();
}

Task<> KeyCache::WaitForFetch() {
  const std::shared_ptr<Wakeup> wakeup = Wakeup::New();
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) co_return;
    waiting_.push_back(wakeup);
    wanted_ = true;
    if (asleep_) asleep_->Wake();
  }
  co_await Wakeup::WaitFor(wakeup, kMaxWait);
}

Task<> KeyCache::Run(std::shared_ptr<KeyCache> self) {
  SteadyTime next = self->Now()->refresh_at;
  for (;;) {
    const std::shared_ptr<Wakeup> sleep = Wakeup::New();
    {
      const std::lock_guard lock(self->mutex_);
      if (self->stopped_) co_return;
      self->asleep_ = sleep;
      if (self->wanted_) sleep->Wake();
    }
    co_await Wakeup::Wait(sleep, next);
    {
      const std::lock_guard lock(self->mutex_);
      self->asleep_.reset();
      if (self->stopped_) co_return;
    }
    const SteadyTime started = self->clock_.Steady();
    const bool fetched = co_await self->Fetch();
    next = fetched ? self->Now()->refresh_at : self->clock_.Steady() + kAfterFailure;
    std::vector<std::shared_ptr<Wakeup>> waiting;
    {
      const std::lock_guard lock(self->mutex_);
      waiting.swap(self->waiting_);
      self->wanted_ = false;
    }
    for (const auto& waiter : waiting) waiter->Wake();
    const Duration took = self->clock_.Steady() - started;
    if (took < kMinInterval) co_await SleepFor(kMinInterval - took);
  }
}

Task<bool> KeyCache::Fetch() {
  Result<KeySet> fetched = co_await service_->FetchKeys(clock_.Steady() + kFetchTimeout);
  metrics_->CountFetch(CodeLabel(fetched));
  if (!fetched) {
    log::Error("the keys of the external signer of tokens stay as they are: while fetching token verification keys: {}",
               fetched.error().message);
    co_return false;
  }
  const double now = std::chrono::duration<double>(clock_.Now().time_since_epoch()).count();
  metrics_->SetFetched(now, fetched->data_timestamp);
  auto fresh = std::make_shared<const KeySet>(std::move(*fetched));
  std::vector<std::function<void()>> changed;
  {
    const std::lock_guard lock(mutex_);
    if (Differ(*keys_, *fresh)) changed = listeners_;
    keys_ = std::move(fresh);
  }
  for (const auto& call : changed) call();
  co_return true;
}

}  // namespace apimesh::externaljwt
