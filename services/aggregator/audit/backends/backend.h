#pragma once

#include <memory>
#include <vector>

#include "lib/base/async/task.h"
#include "lib/base/clock.h"
#include "services/aggregator/audit/audit_event.h"

namespace apimesh::aggregator {

using AuditEvents = std::vector<AuditEventPtr>;

/// Receives audit events. Thread-safe.
class AuditBackend {
 public:
  virtual ~AuditBackend() = default;

  /// Records the events, in this order. Returns false if one was not recorded; the backend has reported that already.
  virtual Task<bool> Process(AuditEvents events) = 0;

  /// The server is stopping: from now on, no event waits for others or for a rate limit. Further events may follow.
  virtual void BeginShutdown() {}
  /// Blocks until all events are processed, but not longer than until the deadline. No event may follow.
  virtual void Shutdown(SteadyTime /*deadline*/) {}
};
using AuditBackendPtr = std::shared_ptr<AuditBackend>;

}  // namespace apimesh::aggregator
