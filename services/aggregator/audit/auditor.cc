#include "services/aggregator/audit/auditor.h"

#include <stdexcept>

#include "services/aggregator/audit/backends/batching.h"
#include "services/aggregator/audit/backends/log_backend.h"
#include "services/aggregator/audit/backends/truncating.h"
#include "services/aggregator/audit/backends/webhook_backend.h"

namespace apimesh::aggregator {
namespace {

/// Reports success even if an event could not be recorded.
class IgnoringErrors final : public AuditBackend {
 public:
  explicit IgnoringErrors(AuditBackendPtr delegate) : delegate_(std::move(delegate)) {}
  Task<bool> Process(AuditEvents events) override {
    co_await delegate_->Process(std::move(events));
    co_return true;
  }
  void BeginShutdown() override { delegate_->BeginShutdown(); }
  void Shutdown(SteadyTime deadline) override { delegate_->Shutdown(deadline); }

 private:
  const AuditBackendPtr delegate_;
};

/// Passes events to both backends, one after the other.
class Both final : public AuditBackend {
 public:
  Both(AuditBackendPtr first, AuditBackendPtr second) : first_(std::move(first)), second_(std::move(second)) {}
  Task<bool> Process(AuditEvents events) override {
    const bool recorded = co_await first_->Process(events);
    const bool also = co_await second_->Process(std::move(events));
    co_return recorded&& also;
  }
  void BeginShutdown() override {
    first_->BeginShutdown();
    second_->BeginShutdown();
  }
  void Shutdown(SteadyTime deadline) override {
    first_->Shutdown(deadline);
    second_->Shutdown(deadline);
  }

 private:
  const AuditBackendPtr first_, second_;
};

void CheckVersion(const std::string& version) {
  if (version == "audit.k8s.io/v1") return;
  throw std::runtime_error("invalid group version, allowed versions are [\"audit.k8s.io/v1\"]");
}

/// Adds the mode and the truncation that the options ask for.
AuditBackendPtr Wrapped(std::string_view name, AuditBackendPtr backend, const AuditBatchOptions& batch,
                        BatchOrder order, const AuditTruncateOptions& truncate,
                        const std::shared_ptr<AuditMetrics>& metrics, const Clock& clock) {
  if (batch.mode == "batch") {
    backend = NewBatching(batch, order, std::move(backend), metrics, clock);
  } else if (batch.mode == "blocking") {
    backend = std::make_shared<IgnoringErrors>(std::move(backend));
  } else if (batch.mode != "blocking-strict") {
    throw std::runtime_error(fmt::format(
        "invalid audit {} mode {}, allowed modes are \"batch,blocking,blocking-strict\"", name, batch.mode));
  }
  return truncate.enabled ? NewTruncating(truncate, std::move(backend), metrics) : backend;
}

}  // namespace

std::shared_ptr<Auditor> Auditor::New(const AuditOptions& options, service::Metrics& metrics, const Clock& clock) {
  const auto audit_metrics = std::make_shared<AuditMetrics>(metrics, clock);
  if (options.policy_file.empty()) return nullptr;
  AuditPolicy policy = AuditPolicy::FromFile(options.policy_file);
  AuditBackendPtr log, webhook;
  if (!options.log.path.empty()) {
    CheckVersion(options.log.version);
    log = Wrapped("log", NewLogBackend(options.log, audit_metrics, clock), options.log.batch, BatchOrder::kOneByOne,
                  options.log.truncate, audit_metrics, clock);
  }
  if (!options.webhook.config_file.empty()) {
    CheckVersion(options.webhook.version);
    webhook = Wrapped("webhook", NewWebhookBackend(options.webhook, audit_metrics, clock), options.webhook.batch,
                      BatchOrder::kConcurrent, options.webhook.truncate, audit_metrics, clock);
  }
  if (!log && !webhook) return nullptr;
  const bool wants_text = log && options.log.format == "legacy";
  AuditBackendPtr backend = log && webhook ? std::make_shared<Both>(log, webhook) : (log ? log : webhook);
  return std::make_shared<Auditor>(std::move(policy), std::move(backend), wants_text, audit_metrics, clock);
}

Auditor::Auditor(AuditPolicy policy, AuditBackendPtr backend, bool wants_text, std::shared_ptr<AuditMetrics> metrics,
                 const Clock& clock)
    : policy_(std::move(policy)),
      backend_(std::move(backend)),
      wants_text_(wants_text),
      metrics_(std::move(metrics)),
      clock_(clock) {}

AuditPolicy::Decision Auditor::Decide(const meta::UserInfo& user, const meta::RequestInfo& info) const {
  const AuditPolicy::Decision decision = policy_.Evaluate(user, info);
  metrics_->Decided(decision.level);
  return decision;
}

Task<bool> Auditor::Record(const Exchange& exchange, const meta::UserInfo& user, const AuditPolicy::Decision& decision,
                           AuditStage stage, std::string_view panic) const {
  if (decision.omitted[static_cast<int>(stage)]) co_return true;
  metrics_->Generated();
  AuditEvents events(1, EncodeAuditEvent(exchange, user, decision, stage, clock_.Now(), wants_text_, panic));
  co_return co_await backend_->Process(std::move(events));
}

}  // namespace apimesh::aggregator
