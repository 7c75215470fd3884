#include "services/aggregator/fairness/flow_metrics.h"

namespace apimesh::aggregator {
namespace {

const std::vector<double> kDurations{0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30};
const std::vector<double> kLengths{0, 10, 25, 50, 100, 250, 500, 1000};
const std::vector<double> kSeats{1, 2, 4, 8, 16, 32, 64, 100};
const std::vector<double> kWatches{0, 1, 10, 100, 1000, 10000};

}  // namespace

/// Creates the series of one FlowSchema.
class FlowMetrics::Series {
 public:
  Series(service::Metrics& metrics, const std::string& level, const std::string& schema)
      : metrics_(metrics), labels_{{"priority_level", level}, {"flow_schema", schema}} {}

  service::Counter Counter(const std::string& name, const std::string& help, const service::Labels& more = {}) const {
    return metrics_.GetCounter(kPrefix + name, help, With(more));
  }
  service::Gauge Gauge(const std::string& name, const std::string& help) const {
    return metrics_.GetGauge(kPrefix + name, help, labels_);
  }
  service::Histogram Histogram(const std::string& name, const std::string& help, const std::vector<double>& buckets,
                               const service::Labels& more = {}) const {
    return metrics_.GetHistogram(kPrefix + name, help, buckets, With(more));
  }
  service::Counter Rejected(const char* reason) const {
    return Counter("rejected_requests_total", "Number of requests rejected by priority and fairness",
                   {{"reason", reason}});
  }
  service::Histogram Wait(const char* execute) const {
    return Histogram("request_wait_duration_seconds", "Time that requests waited in their queue", kDurations,
                     {{"execute", execute}});
  }
  service::Histogram Execution(const char* type) const {
    return Histogram("request_execution_seconds", "Time that requests executed, until a watch is initialised",
                     kDurations, {{"type", type}});
  }

 private:
  static inline const std::string kPrefix = "apiserver_flowcontrol_";
  service::Labels With(const service::Labels& more) const {
    service::Labels labels = labels_;
    labels.insert(more.begin(), more.end());
    return labels;
  }

  service::Metrics& metrics_;
  const service::Labels labels_;
};

FlowMetrics::FlowMetrics(service::Metrics& metrics, const std::string& level, const std::string& schema)
    : FlowMetrics(Series(metrics, level, schema)) {}

FlowMetrics::FlowMetrics(const Series& series)
    : dispatched(series.Counter("dispatched_requests_total", "Number of requests that began to execute")),
      rejected_queue_full(series.Rejected("queue-full")),
      rejected_concurrency_limit(series.Rejected("concurrency-limit")),
      rejected_time_out(series.Rejected("time-out")),
      waiting(series.Gauge("current_inqueue_requests", "Number of requests that wait in queues")),
      waiting_seats(series.Gauge("current_inqueue_seats", "Number of seats of requests that wait in queues")),
      executing(series.Gauge("current_executing_requests", "Number of requests that execute")),
      executing_seats(series.Gauge("current_executing_seats", "Number of seats of requests that execute")),
      queue_length(series.Histogram("request_queue_length_after_enqueue", "Length of a queue as seen by a new request",
                                    kLengths)),
      wait_of_executed(series.Wait("true")),
      wait_of_rejected(series.Wait("false")),
      execution(series.Execution("regular")),
      execution_of_watch(series.Execution("watch")),
      seats(series.Histogram("work_estimated_seats", "Greatest number of seats of a request", kSeats)),
      watches(series.Histogram("watch_count_samples", "Number of watches that a write concerns", kWatches)) {}

}  // namespace apimesh::aggregator
