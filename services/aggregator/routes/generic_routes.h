#pragma once

#include <memory>
#include <string>

#include "lib/service/health.h"
#include "lib/service/metrics.h"
#include "services/aggregator/delegation/forwarder.h"
#include "services/aggregator/delegation/route_table.h"
#include "services/aggregator/diagnostics/diagnostics.h"
#include "services/aggregator/discovery/discovery_documents.h"
#include "services/aggregator/discovery/openapi_v2.h"
#include "services/aggregator/filters/filter.h"
#include "services/aggregator/metrics/metric_rules.h"
#include "services/aggregator/routes/pages.h"

namespace apimesh::aggregator {

/// The last filter: answers the paths that the edge serves itself (health, version, metrics, discovery, the index) and
/// forwards all others to the delegates.
class GenericRoutes final : public Filter {
 public:
  struct Parts {
    std::shared_ptr<RouteTable> routes;
    std::shared_ptr<Forwarder> forwarder;
    const service::HealthChecks& health;
    const service::Metrics& metrics;
    std::shared_ptr<const MetricRules> metric_rules;
    std::shared_ptr<Authority> authority;  // its metrics are included in /metrics
    std::shared_ptr<const Pages> pages;
    std::shared_ptr<Diagnostics> diagnostics;
    std::string version_json;
    std::string server_address;  // "host:port", for /api
  };
  explicit GenericRoutes(Parts parts) : parts_(std::move(parts)) {}

  Task<> Handle(Exchange& exchange, Next next) override;
  /// Rebuilds the discovery documents. Must be called after each change of the routes.
  void Rebuild(const Routes& routes);

 private:
  std::shared_ptr<const DiscoveryDocuments> Documents() const;
  /// Returns the error for a discovery request that is rejected, or nullopt if processing continues.
  std::optional<meta::ApiError> RouteDiscovery(const Exchange& exchange) const;
  Task<> AnswerDiscovery(Exchange& exchange, std::shared_ptr<const DiscoveryDocuments> documents);
  Task<> AnswerOpenApiV2(Exchange& exchange);
  Task<> AnswerIndex(Exchange& exchange);

  Parts parts_;
  OpenApiV2 openapi_v2_;
  mutable std::mutex mutex_;
  std::shared_ptr<const DiscoveryDocuments> documents_;  // guarded by mutex_
};

}  // namespace apimesh::aggregator
