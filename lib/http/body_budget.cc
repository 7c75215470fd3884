#include "lib/http/body_budget.h"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace apimesh::http {
namespace {
constexpr std::chrono::milliseconds kLongestWait{1000}, kPause{10};
constexpr std::size_t kShareOfOneOwner = 4;
}  // namespace

bool BodyBudget::TryTake(std::string_view owner, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (taken_ > 0 && (bytes > bytes_ || taken_ > bytes_ - bytes)) return false;
  std::size_t& of_owner = by_owner_[std::string(owner)];
  if (of_owner > 0 && of_owner + bytes > bytes_ / kShareOfOneOwner) return false;
  of_owner += bytes;
  taken_ += bytes;
  return true;
}

void BodyBudget::Return(std::string_view owner, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  taken_ -= bytes;
  const auto found = by_owner_.find(std::string(owner));
  found->second -= bytes;
  if (found->second == 0) by_owner_.erase(found);
}

std::size_t BodyBudget::Taken() const {
  const std::lock_guard lock(mutex_);
  return taken_;
}

Task<bool> BodyLease::Take(std::shared_ptr<BodyBudget> budget, std::string owner, std::size_t bytes,
                           const Clock& clock) {
  if (!budget || bytes <= BodyBudget::kFreeBytes) co_return true;
  const SteadyTime end = clock.Steady() + kLongestWait;
  // Polling is sufficient: this happens only under attack or overload, and the number and duration of the waits are
  // limited.
  boost::asio::steady_timer pause(co_await boost::asio::this_coro::executor);
  while (!budget->TryTake(owner, bytes)) {
    if (clock.Steady() >= end) co_return false;
    pause.expires_after(kPause);
    co_await pause.async_wait(boost::asio::use_awaitable);
  }
  budget_ = std::move(budget);
  owner_ = std::move(owner);
  bytes_ = bytes;
  co_return true;
}

void BodyLease::Shrink(std::size_t bytes) {
  if (!budget_ || bytes >= bytes_) return;
  budget_->Return(owner_, bytes_ - bytes);
  bytes_ = bytes;
  if (bytes_ == 0) budget_.reset();
}

}  // namespace apimesh::http
