#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "lib/meta/request/request_info.h"
#include "lib/service/metrics.h"

namespace apimesh::aggregator {

/// kube-apiserver's request metrics. The values of labels are from closed sets: values that a client can invent
/// (methods, paths, resources that are not served) are replaced by one shared value. Thread-safe.
class RequestMetrics {
 public:
  explicit RequestMetrics(service::Metrics& metrics);
  ~RequestMetrics();

  /// `known`: the resource is served by this mesh.
  void Record(const meta::RequestInfo& info, bool known, int code, std::size_t bytes,
              std::chrono::duration<double> took);
  void LongRunning(const meta::RequestInfo& info, bool known, int change);
  void InFlight(bool mutating, int change);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace apimesh::aggregator
