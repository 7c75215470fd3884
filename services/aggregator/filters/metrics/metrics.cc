#include "services/aggregator/filters/metrics/metrics.h"

#include "services/aggregator/delegation/route_table.h"
#include "services/aggregator/metrics/request_metrics.h"

namespace apimesh::aggregator {
namespace {

class Metrics final : public Filter {
 public:
  Metrics(std::shared_ptr<RequestMetrics> metrics, std::shared_ptr<RouteTable> routes, const Clock& clock)
      : metrics_(std::move(metrics)), routes_(std::move(routes)), clock_(clock) {}

  Task<> Handle(Exchange& exchange, Next next) override {
    const Count count(*this, exchange);
    co_await next(exchange);
  }

 private:
  // Records the request in its destructor, so that requests that end with an exception are counted too.
  struct Count {
    Count(Metrics& given, Exchange& request)
        : self(given), exchange(request), known(given.routes_->Current()->KnowsResource(request.info)) {
      if (exchange.long_running) {
        self.metrics_->LongRunning(exchange.info, known, 1);
      } else {
        self.metrics_->InFlight(!IsReadOnly(exchange.info.verb), 1);
      }
    }
    ~Count() {
      if (exchange.long_running) {
        self.metrics_->LongRunning(exchange.info, known, -1);
      } else {
        self.metrics_->InFlight(!IsReadOnly(exchange.info.verb), -1);
      }
      const int code = exchange.reply.Code() == 0 ? 500 : exchange.reply.Code();
      self.metrics_->Record(exchange.info, known, code, exchange.reply.BodyBytes(),
                            self.clock_.Steady() - exchange.started);
    }
    Count(const Count&) = delete;
    Metrics& self;
    Exchange& exchange;
    bool known;
  };

  std::shared_ptr<RequestMetrics> metrics_;
  std::shared_ptr<RouteTable> routes_;
  const Clock& clock_;
};

}  // namespace

std::shared_ptr<Filter> MakeMetrics(const FilterInputs& inputs) {
  return std::make_shared<Metrics>(inputs.metrics, inputs.routes, inputs.clock);
}

}  // namespace apimesh::aggregator
