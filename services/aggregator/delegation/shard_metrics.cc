#include "services/aggregator/delegation/shard_metrics.h"

namespace apimesh::aggregator {

void ShardMetrics::Update(const Routes& routes) {
  const std::lock_guard lock(mutex_);
  std::set<std::string> serving;
  for (const Delegate& delegate : routes.delegates) {
    if (delegate.kind != Delegate::Kind::kShard) continue;
    known_.insert(delegate.name);
    if (delegate.up && delegate.description && !delegate.description->group_versions.empty())
      serving.insert(delegate.name);
  }
  for (const std::string& name : known_) {
    metrics_
        .GetGauge("apimesh_shard_serving", "Whether a shard of API groups is up and gets their requests.",
                  {{"shard", name}})
        .Set(serving.contains(name) ? 1 : 0);
  }
}

}  // namespace apimesh::aggregator
