#include "services/aggregator/filters/cache_control/cache_control.h"

namespace apimesh::aggregator {
namespace {

class CacheControl final : public Filter {
 public:
  explicit CacheControl(const std::vector<std::string>& directives) {
    for (const std::string& directive : directives)
      strict_transport_ += (strict_transport_.empty() ? "" : "; ") + directive;
  }

  Task<> Handle(Exchange& exchange, Next next) override {
    exchange.reply.SetHeader("cache-control", "no-cache, private");
    if (!strict_transport_.empty()) exchange.reply.SetHeader("strict-transport-security", strict_transport_);
    return next(exchange);
  }

 private:
  std::string strict_transport_;
};

}  // namespace

std::shared_ptr<Filter> MakeCacheControl(const FilterInputs& inputs) {
  return std::make_shared<CacheControl>(inputs.Get<CacheControlOptions>().hsts_directives);
}

}  // namespace apimesh::aggregator
