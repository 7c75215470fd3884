#include "services/aggregator/apiservices/availability_metrics.h"

namespace apimesh::aggregator {

AvailabilityMetrics::AvailabilityMetrics(service::Metrics& metrics) : metrics_(metrics) {
  metrics.AddSource([current = current_] {
    service::MetricFamily family{
        .name = "aggregator_unavailable_apiservice", .help = "Whether the APIService is unavailable.", .series = {}};
    const std::lock_guard lock(current->mutex);
    for (const auto& [name, available] : current->available)
      family.series.push_back({.labels = {{"name", name}}, .value = available ? 0.0 : 1.0});
    return std::vector{std::move(family)};
  });
}

void AvailabilityMetrics::Set(std::map<std::string, bool> available) {
  const std::lock_guard lock(current_->mutex);
  current_->available = std::move(available);
}

void AvailabilityMetrics::Lost(const std::string& name, const std::string& reason) {
  metrics_
      .GetCounter("aggregator_unavailable_apiservice_total", "How often an APIService became unavailable, by reason.",
                  {{"name", name}, {"reason", reason}})
      .Add();
}

}  // namespace apimesh::aggregator
