#include "services/aggregator/filters/max_in_flight/max_in_flight.h"

#include <atomic>
#include <limits>

#include "services/aggregator/filters/priority_and_fairness/options.h"

namespace apimesh::aggregator {
namespace {

constexpr int kRetryAfterSeconds = 1;

class MaxInFlight final : public Filter {
 public:
  MaxInFlight(int reads, int writes) : limits_{reads, writes} {}

  Task<> Handle(Exchange& exchange, Next next) override {
    const int kind = !IsReadOnly(exchange.info.verb);
    if (exchange.long_running || limits_[kind] <= 0) {
      co_await next(exchange);
      co_return;
    }
    CountedSlot slot(in_flight_[kind], IsPrivileged(exchange) ? std::numeric_limits<int>::max() : limits_[kind]);
    if (!slot.Acquire()) {
      exchange.metrics.terminated = true;
      co_await exchange.reply.SendError(
          meta::TooManyRequests("Too many requests, please try again later.", kRetryAfterSeconds));
      co_return;
    }
    exchange.slot = &slot;
    co_await next(exchange);
    exchange.slot = nullptr;
  }

 private:
  class CountedSlot final : public RequestSlot {
   public:
    CountedSlot(std::atomic<int>& count, int limit) : count_(count), limit_(limit) {}
    ~CountedSlot() override { Release(); }
    CountedSlot(const CountedSlot&) = delete;
    CountedSlot& operator=(const CountedSlot&) = delete;

    void Release() override {
      if (std::exchange(taken_, false)) --count_;
    }
    bool Acquire() override {
      taken_ = ++count_ <= limit_;
      if (!taken_) --count_;
      return taken_;
    }

   private:
    std::atomic<int>& count_;
    const int limit_;
    bool taken_ = false;
  };

  // Administrators are not limited, so that they can use an overloaded server.
  static bool IsPrivileged(const Exchange& exchange) {
    const auto& groups = exchange.user->info.groups;
    return std::find(groups.begin(), groups.end(), "system:masters") != groups.end();
  }

  int limits_[2];
  std::atomic<int> in_flight_[2] = {0, 0};
};

}  // namespace

std::shared_ptr<Filter> MakeMaxInFlight(const FilterInputs& inputs) {
  if (inputs.Get<PriorityAndFairnessOptions>().enabled) return nullptr;
  const MaxInFlightOptions& options = inputs.Get<MaxInFlightOptions>();
  inputs.add_hook("max-in-flight-filter", [] { return true; });  // the limits need no work in the background
  return std::make_shared<MaxInFlight>(options.reads, options.writes);
}

}  // namespace apimesh::aggregator
