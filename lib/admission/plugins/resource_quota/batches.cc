#include "lib/admission/plugins/resource_quota/batches.h"

#include <algorithm>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>

#include "lib/base/log.h"

namespace apimesh::admission::resource_quota {
namespace {

constexpr auto kTimeout = std::chrono::seconds(10);
/// How often a batch is charged again after another process has written a quota. Only one batch per process and
/// namespace is charged at a time, so conflicts are rare.
constexpr int kMaxAttempts = 20;

}  // namespace

Batches::Batches(ObjectsPtr objects, SendRequest send, std::vector<LimitedResource> limited, const Clock* clock)
    : quotas_(std::move(objects), std::move(send), clock), limited_(std::move(limited)), clock_(clock) {}

Task<meta::Result<>> Batches::Charge(Demand demand) {
  const std::string ns = demand.request.ns;
  const auto waiter = std::make_shared<Waiter>(std::move(demand));
  bool idle = false;
  {
    const std::lock_guard lock(mutex_);
    const auto [waiting, added] = waiting_.try_emplace(ns);
    waiting->second.push_back(waiter);
    idle = added;
  }
  if (idle) {
    // Batches do not run in the coroutine of a request, because that request may end early.
    const auto ended = [self = shared_from_this(), ns](std::exception_ptr error) {
      if (!error) return;
      log::Error("the quotas of namespace {} could not be charged because of an exception", ns);
      for (const WaiterPtr& left : self->TakeWaiting(ns))
        Finish(left, meta::InternalError("resource quota evaluation failed"));
      const std::lock_guard lock(self->mutex_);
      self->waiting_.erase(ns);
    };
    boost::asio::co_spawn(co_await boost::asio::this_coro::executor, Run(ns), ended);
  }
  const bool done = co_await Wakeup::WaitFor(waiter->wakeup, kTimeout);
  if (!done) co_return meta::InternalError("resource quota evaluation timed out");
  const std::lock_guard lock(waiter->mutex);
  co_return *waiter->result;
}

std::vector<Batches::WaiterPtr> Batches::TakeWaiting(const std::string& ns) {
  const std::lock_guard lock(mutex_);
  const auto found = waiting_.find(ns);
  if (found == waiting_.end()) return {};
  std::vector<WaiterPtr> taken = std::exchange(found->second, {});
  if (taken.empty()) waiting_.erase(found);
  return taken;
}

Task<> Batches::Run(std::string ns) {
  const std::shared_ptr<Batches> self = shared_from_this();
  for (;;) {
    std::vector<WaiterPtr> batch = TakeWaiting(ns);
    if (batch.empty()) co_return;
    co_await ChargeAll(ns, std::move(batch));
  }
}

void Batches::Finish(const WaiterPtr& waiter, meta::Result<> result) {
  {
    const std::lock_guard lock(waiter->mutex);
    waiter->result = std::move(result);
  }
  waiter->wakeup->Wake();
}

Task<Batches::Failure> Batches::Store(const Ledger& ledger) {
  Failure failure;
  for (const Ledger::Entry& entry : ledger.Entries()) {
    if (!entry.changed) continue;
    const meta::Result<> written = co_await quotas_.WriteUsage(entry.quota, entry.used);
    if (written) continue;
    failure.names.push_back(entry.quota->name);
    failure.error = written;
  }
  co_return failure;
}

Task<> Batches::ChargeAll(std::string ns, std::vector<WaiterPtr> batch) {
  const SteadyTime deadline = clock_->Steady() + kTimeout;
  static const std::vector<LimitedResource> kNoneLimited;
  meta::Result<std::vector<QuotaPtr>> quotas = co_await quotas_.Of(ns, Read::kCached, deadline);
  for (int attempt = 1;; ++attempt) {
    if (!quotas) {
      for (const WaiterPtr& waiter : batch) Finish(waiter, quotas.error());
      co_return;
    }
    Ledger ledger(std::move(*quotas));
    std::vector<WaiterPtr> charged;
    for (const WaiterPtr& waiter : batch) {
      // After the first attempt, `quotas` has only those that could not be written, so that it does not show whether
      // limited resources are covered.
      const meta::Result<bool> changed = ledger.Charge(waiter->demand, attempt == 1 ? limited_ : kNoneLimited);
      if (changed && *changed) {
        charged.push_back(waiter);
      } else {
        Finish(waiter, changed ? meta::Result<>() : meta::Result<>(changed.error()));
      }
    }
    if (charged.empty()) co_return;
    const Failure failure = co_await Store(ledger);
    const bool give_up = !failure.error && (attempt == kMaxAttempts || clock_->Steady() >= deadline ||
                                            failure.error.error().Code() != 409);
    if (failure.error || give_up) {
      for (const WaiterPtr& waiter : charged) Finish(waiter, failure.error);
      co_return;
    }
    batch = std::move(charged);
    quotas = co_await quotas_.Of(ns, Read::kNewest, deadline);
    if (!quotas) continue;
    std::erase_if(*quotas, [&failure](const QuotaPtr& quota) {
      return std::find(failure.names.begin(), failure.names.end(), quota->name) == failure.names.end();
    });
  }
}

}  // namespace apimesh::admission::resource_quota
