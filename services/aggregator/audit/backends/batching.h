#pragma once

#include "services/aggregator/audit/audit_metrics.h"
#include "services/aggregator/audit/audit_options.h"
#include "services/aggregator/audit/backends/backend.h"

namespace apimesh::aggregator {

/// Whether the next batch is processed only after the previous one, or while up to kMaxConcurrentBatches are processed.
enum class BatchOrder { kOneByOne, kConcurrent };

inline constexpr int kMaxConcurrentBatches = 64;
/// The bytes of all events that wait or are being processed. Beyond this limit, events are dropped.
inline constexpr std::size_t kMaxBufferedAuditBytes = 128 << 20;

/// Collects events in a bounded buffer and passes them to `delegate` in batches, on its own thread. Process() never
/// waits: an event that does not fit into the buffer is dropped, counted and reported.
AuditBackendPtr NewBatching(const AuditBatchOptions& options, BatchOrder order, AuditBackendPtr delegate,
                            std::shared_ptr<AuditMetrics> metrics, const Clock& clock);

}  // namespace apimesh::aggregator
