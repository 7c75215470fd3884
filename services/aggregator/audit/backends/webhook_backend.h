#pragma once

#include <functional>
#include <string>

#include "lib/service/webhook/webhook_client.h"
#include "services/aggregator/audit/audit_metrics.h"
#include "services/aggregator/audit/audit_options.h"
#include "services/aggregator/audit/backends/backend.h"

namespace apimesh::aggregator {

/// Sends events as an EventList to the webhook of a kubeconfig. A request that fails for any reason is tried five
/// times, with pauses that grow from --audit-webhook-initial-backoff; after BeginShutdown(), pauses are at most a
/// second. Throws std::runtime_error if the kubeconfig is invalid.
AuditBackendPtr NewWebhookBackend(const AuditWebhookOptions& options, std::shared_ptr<AuditMetrics> metrics,
                                  const Clock& clock);

/// Returns the body of a request with these events.
std::string EventListOf(const AuditEvents& events);

}  // namespace apimesh::aggregator
