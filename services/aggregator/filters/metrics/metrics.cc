#include "services/aggregator/filters/metrics/metrics.h"

#include "lib/base/log.h"
#include "services/aggregator/delegation/route_table.h"
#include "services/aggregator/edge/latency.h"
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
  class Count {
   public:
    Count(Metrics& given, Exchange& request)
        : self_(given), exchange_(request), known_(given.routes_->Current()->KnowsResource(request.info)) {
      const RequestLabels labels =
          LabelsOf(request.info, known_, request.request.method, request.query, request.request.Header("content-type"));
      exchange_.metrics.series = &self_.metrics_->Find(labels);
      if (exchange_.long_running) {
        Series().LongRunning(1);
      } else {
        self_.metrics_->InFlight(!IsReadOnly(exchange_.info.verb), 1);
      }
    }
    ~Count() {
      if (exchange_.long_running) {
        Series().LongRunning(-1);
      } else {
        self_.metrics_->InFlight(!IsReadOnly(exchange_.info.verb), -1);
      }
      const int code = exchange_.reply.Code() == 0 ? 500 : exchange_.reply.Code();
      const SteadyTime now = self_.clock_.Steady();
      const meta::Verb verb = exchange_.info.verb;
      const Duration took = now - exchange_.started;
      Series().Record(code, took, exchange_.latency.queued);
      if (const std::optional<std::string> line = SlowRequestLine(exchange_, took))
        log::Write(log::Level::kInfo, *line, exchange_.audit_id);
      if (verb == meta::Verb::kGet || verb == meta::Verb::kList || verb == meta::Verb::kWatch)
        Series().ResponseSize(exchange_.reply.BodyBytes());
      if (exchange_.metrics.terminated || (code == 504 && now >= exchange_.deadline)) Series().Terminated(code);
      if (!known_) return;
      if (exchange_.metrics.body_bytes) Series().BodySize(verb, *exchange_.metrics.body_bytes);
      if (!exchange_.audit.annotations.empty()) RecordDeprecation();
    }
    Count(const Count&) = delete;
    Count& operator=(const Count&) = delete;

   private:
    RequestMetrics::Series& Series() { return *exchange_.metrics.series; }
    void RecordDeprecation() {
      const auto& annotations = exchange_.audit.annotations;
      if (!annotations.contains("k8s.io/deprecated")) return;
      const auto removed = annotations.find("k8s.io/removed-release");
      Series().Deprecated(removed == annotations.end() ? "" : removed->second);
    }

    Metrics& self_;
    Exchange& exchange_;
    const bool known_;
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
