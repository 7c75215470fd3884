#include <atomic>

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
    const Seat seat(in_flight_[kind]);
    if (seat.position > limits_[kind] && !IsPrivileged(exchange)) {
      co_await exchange.reply.SendError(meta::TooManyRequests("Too many requests, please try again later.", kRetryAfterSeconds));
      co_return;
    }
    co_await next(exchange);
  }

 private:
  struct Seat {
    explicit Seat(std::atomic<int>& given) : count(given), position(++given) {}
    ~Seat() { --count; }
    Seat(const Seat&) = delete;
    std::atomic<int>& count;
    int position;
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
