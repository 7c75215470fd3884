#include "services/aggregator/filters/shutdown/shutdown.h"

#include "services/aggregator/health/lifecycle.h"

namespace apimesh::aggregator {
namespace {

constexpr int kRetryAfterSeconds = 5;

class Shutdown final : public Filter {
 public:
  explicit Shutdown(std::shared_ptr<Lifecycle> lifecycle) : lifecycle_(std::move(lifecycle)) {}

  Task<> Handle(Exchange& exchange, Next next) override {
    if (!lifecycle_->Draining() || IsHealthPath(exchange.path)) {
      co_await next(exchange);
      co_return;
    }
    exchange.reply.SetHeader("connection", "close");  // the client reconnects to another replica
    co_await exchange.reply.SendError(
        meta::TooManyRequests("The apiserver is shutting down, please try again later.", kRetryAfterSeconds));
  }

 private:
  std::shared_ptr<Lifecycle> lifecycle_;
};

}  // namespace

std::shared_ptr<Filter> MakeShutdown(const FilterInputs& inputs) {
  return std::make_shared<Shutdown>(inputs.lifecycle);
}

}  // namespace apimesh::aggregator
