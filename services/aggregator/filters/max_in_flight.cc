#include <atomic>
#include <limits>

#include "services/aggregator/filters/filters.h"

namespace apimesh::aggregator {
namespace {

constexpr int kRetryAfterSeconds = 1;

bool IsMutating(const std::string& verb) { return verb != "get" && verb != "list" && verb != "watch"; }

class MaxInFlight final : public Filter {
 public:
  MaxInFlight(int reads, int writes) : limits_{reads, writes} {}

  Task<> Handle(Exchange& exchange, Next next) override {
    const int kind = IsMutating(exchange.info.verb);
    if (exchange.long_running || limits_[kind] <= 0) {
      co_await next(exchange);
      co_return;
    }
    CountedSeat seat(in_flight_[kind], IsPrivileged(exchange) ? std::numeric_limits<int>::max() : limits_[kind]);
    if (!seat.Return()) {
      co_await exchange.reply.SendError(meta::TooManyRequests("Too many requests, please try again later.", kRetryAfterSeconds));
      co_return;
    }
    exchange.seat = &seat;
    co_await next(exchange);
    exchange.seat = nullptr;
  }

 private:
  class CountedSeat final : public Seat {
   public:
    CountedSeat(std::atomic<int>& count, int limit) : count_(count), limit_(limit) {}
    ~CountedSeat() override { Leave(); }
    CountedSeat(const CountedSeat&) = delete;
    CountedSeat& operator=(const CountedSeat&) = delete;

    void Leave() override {
      if (std::exchange(taken_, false)) --count_;
    }
    bool Return() override {
      taken_ = ++count_ <= limit_;
      if (!taken_) --count_;
      return taken_;
    }

   private:
    std::atomic<int>& count_;
    const int limit_;
    bool taken_ = false;
  };

  // An administrator must get an answer from a server in trouble.
  static bool IsPrivileged(const Exchange& exchange) {
    const auto& groups = exchange.user->info.groups;
    return std::find(groups.begin(), groups.end(), "system:masters") != groups.end();
  }

  int limits_[2];
  std::atomic<int> in_flight_[2] = {0, 0};
};

}  // namespace

std::shared_ptr<Filter> NewMaxInFlight(int reads, int writes) { return std::make_shared<MaxInFlight>(reads, writes); }

}  // namespace apimesh::aggregator
