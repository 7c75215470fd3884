#pragma once

#include <memory>
#include <string>

#include "lib/service/health.h"
#include "lib/service/metrics.h"
#include "services/aggregator/delegation/forwarder.h"
#include "services/aggregator/delegation/route_table.h"
#include "services/aggregator/discovery/discovery_documents.h"
#include "services/aggregator/discovery/openapi_v2.h"
#include "services/aggregator/filters/filter.h"

namespace apimesh::aggregator {

/// The end of the filter chain: answers what the edge itself knows (health, version, metrics, discovery, the index) and
/// hands all else to the delegates.
class GenericRoutes final : public Filter {
 public:
  struct Parts {
    std::shared_ptr<RouteTable> routes;
    std::shared_ptr<Forwarder> forwarder;
    const service::HealthChecks& health;
    const service::Metrics& metrics;
    std::shared_ptr<Authority> authority;  // its metrics are shown too
    std::string version_json;
    std::string server_address;  // "host:port", for /api
  };
  explicit GenericRoutes(Parts parts) : parts_(std::move(parts)) {}

  Task<> Handle(Exchange& exchange, Next next) override;
  /// Makes the discovery documents anew; called after each change of the routes.
  void Rebuild(const Routes& routes);

 private:
  std::shared_ptr<const DiscoveryDocuments> Documents() const;
  /// An error for a path of discovery that the router refuses; nullopt: it goes on.
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
