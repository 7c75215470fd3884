#pragma once

#include <memory>

#include "lib/service/metrics.h"
#include "services/aggregator/audit/audit_metrics.h"
#include "services/aggregator/audit/audit_options.h"
#include "services/aggregator/audit/audit_policy.h"
#include "services/aggregator/audit/backends/backend.h"

namespace apimesh::aggregator {

/// Decides which requests are audited, and records their events in all backends. Thread-safe.
class Auditor {
 public:
  /// Returns nullptr if there is no policy or no backend. Throws std::runtime_error if the options are invalid. The
  /// metrics exist in any case, as in kube-apiserver.
  static std::shared_ptr<Auditor> New(const AuditOptions& options, service::Metrics& metrics, const Clock& clock);
  Auditor(AuditPolicy policy, AuditBackendPtr backend, bool wants_text, std::shared_ptr<AuditMetrics> metrics,
          const Clock& clock);

  AuditPolicy::Decision Decide(const meta::UserInfo& user, const meta::RequestInfo& info) const;

  /// Records the event of a stage, unless the policy omits it. Returns false if it was not recorded and the mode of the
  /// backend demands that the request fails.
  Task<bool> Record(const Exchange& exchange, const meta::UserInfo& user, const AuditPolicy::Decision& decision,
                    AuditStage stage, std::string_view panic = {}) const;

  /// Counts a request that is rejected because Record() returned false.
  void CountRejected() const { metrics_->Rejected(); }

  /// The server begins to drain: buffered events are sent at once.
  void BeginShutdown() const { backend_->BeginShutdown(); }
  /// Waits until all events are recorded, but not longer than until the deadline.
  void Shutdown(SteadyTime deadline) const { backend_->Shutdown(deadline); }

 private:
  const AuditPolicy policy_;
  const AuditBackendPtr backend_;
  const bool wants_text_;
  const std::shared_ptr<AuditMetrics> metrics_;
  const Clock& clock_;
};

}  // namespace apimesh::aggregator
