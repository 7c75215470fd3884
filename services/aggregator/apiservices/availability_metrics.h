#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "lib/service/metrics.h"

namespace apimesh::aggregator {

/// kube-apiserver's metrics of the availability of APIServices. Thread-safe.
class AvailabilityMetrics {
 public:
  /// `metrics` must outlive the object.
  explicit AvailabilityMetrics(service::Metrics& metrics);

  /// Replaces all APIServices: their names and whether they are available.
  void Set(std::map<std::string, bool> available);
  /// An APIService has become unavailable.
  void Lost(const std::string& name, const std::string& reason);

 private:
  struct Current {
    std::mutex mutex;
    std::map<std::string, bool> available;  // guarded by mutex
  };
  service::Metrics& metrics_;
  const std::shared_ptr<Current> current_ = std::make_shared<Current>();
};

}  // namespace apimesh::aggregator
