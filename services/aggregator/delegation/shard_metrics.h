#pragma once

#include <mutex>
#include <set>
#include <string>

#include "lib/service/metrics.h"
#include "services/aggregator/delegation/route_table.h"

namespace apimesh::aggregator {

/// The metric apimesh_shard_serving: 1 if requests go to the shard and it is up, otherwise 0. Thread-safe.
class ShardMetrics {
 public:
  explicit ShardMetrics(service::Metrics& metrics) : metrics_(metrics) {}
  void Update(const Routes& routes);

 private:
  service::Metrics& metrics_;
  std::mutex mutex_;
  std::set<std::string> known_;  // guarded by mutex_
};

}  // namespace apimesh::aggregator
