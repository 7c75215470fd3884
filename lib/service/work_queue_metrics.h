#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "lib/base/clock.h"
#include "lib/service/metrics.h"

namespace apimesh::service {

/// The metrics of a controller's queue of names (workqueue_*), as the controllers of Kubernetes have them. A name is
/// added, begun and finished; adding a name that waits has no effect. Thread-safe.
class WorkQueueMetrics {
 public:
  /// `metrics` and `clock` must outlive the object.
  WorkQueueMetrics(const std::string& queue, Metrics& metrics, const Clock& clock);

  void Add(const std::string& name);
  void Begin(const std::string& name);
  /// `retry`: the work has failed and the name waits again.
  void Finish(const std::string& name, bool retry = false);

 private:
  struct State {
    std::mutex mutex;
    std::map<std::string, SteadyTime> waiting, working;  // since when; guarded by mutex
  };
  const Clock& clock_;
  const std::shared_ptr<State> state_ = std::make_shared<State>();
  Counter adds_, retries_;
  Gauge depth_;
  Histogram queued_, worked_;
};

}  // namespace apimesh::service
