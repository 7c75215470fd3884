#pragma once

#include "services/aggregator/audit/audit_metrics.h"
#include "services/aggregator/audit/audit_options.h"
#include "services/aggregator/audit/backends/backend.h"

namespace apimesh::aggregator {

/// Writes events to a file or to standard output, one per line. Throws std::runtime_error if the file cannot be opened.
AuditBackendPtr NewLogBackend(const AuditLogOptions& options, std::shared_ptr<AuditMetrics> metrics,
                              const Clock& clock);

}  // namespace apimesh::aggregator
