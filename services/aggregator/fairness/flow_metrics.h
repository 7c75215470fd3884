#pragma once

#include <string>

#include "lib/service/metrics.h"

namespace apimesh::aggregator {

/// The metrics of the requests of one FlowSchema, with the names, labels and buckets of kube-apiserver.
struct FlowMetrics {
  FlowMetrics(service::Metrics& metrics, const std::string& level, const std::string& schema);

  service::Counter dispatched, rejected_queue_full, rejected_concurrency_limit, rejected_time_out;
  service::Gauge waiting, waiting_seats, executing, executing_seats;
  service::Histogram queue_length, wait_of_executed, wait_of_rejected, execution, execution_of_watch, seats, watches;

 private:
  class Series;
  explicit FlowMetrics(const Series& series);
};

}  // namespace apimesh::aggregator
