#pragma once

#include "services/aggregator/audit/audit_metrics.h"
#include "services/aggregator/audit/audit_options.h"
#include "services/aggregator/audit/backends/backend.h"

namespace apimesh::aggregator {

/// Removes request and response from events that are too large, drops events that are too large even then, and splits
/// batches that are too large.
AuditBackendPtr NewTruncating(const AuditTruncateOptions& options, AuditBackendPtr delegate,
                              std::shared_ptr<AuditMetrics> metrics);

}  // namespace apimesh::aggregator
