#include "services/aggregator/audit/backends/truncating.h"

namespace apimesh::aggregator {
namespace {

class Truncating final : public AuditBackend {
 public:
  Truncating(const AuditTruncateOptions& options, AuditBackendPtr delegate, std::shared_ptr<AuditMetrics> metrics)
      : max_event_(static_cast<std::size_t>(options.max_event_bytes)),
        max_batch_(static_cast<std::size_t>(options.max_batch_bytes)),
        delegate_(std::move(delegate)),
        metrics_(std::move(metrics)) {}

  Task<bool> Process(AuditEvents events) override {
    bool success = true;
    AuditEvents batch;
    std::size_t batch_bytes = 0;
    for (AuditEventPtr& event : events) {
      std::size_t bytes = event->LineBytes();
      if (bytes > max_event_ && event->level >= AuditLevel::kRequest) {
        event = std::make_shared<const AuditEvent>(event->Truncated());
        bytes = event->LineBytes();
      }
      if (bytes > max_event_) {
        metrics_->Failed("truncate", "event is too large even after truncating", 1);
        continue;
      }
      if (!batch.empty() && batch_bytes + bytes > max_batch_) {
        AuditEvents full;
        full.swap(batch);
        const bool recorded = co_await delegate_->Process(std::move(full));
        success = recorded && success;
        batch_bytes = 0;
      }
      batch_bytes += bytes;
      batch.push_back(std::move(event));
    }
    if (!batch.empty()) {
      const bool recorded = co_await delegate_->Process(std::move(batch));
      success = recorded && success;
    }
    co_return success;
  }
  void BeginShutdown() override { delegate_->BeginShutdown(); }
  void Shutdown(SteadyTime deadline) override { delegate_->Shutdown(deadline); }

 private:
  const std::size_t max_event_, max_batch_;
  const AuditBackendPtr delegate_;
  const std::shared_ptr<AuditMetrics> metrics_;
};

}  // namespace

AuditBackendPtr NewTruncating(const AuditTruncateOptions& options, AuditBackendPtr delegate,
                              std::shared_ptr<AuditMetrics> metrics) {
  return std::make_shared<Truncating>(options, std::move(delegate), std::move(metrics));
}

}  // namespace apimesh::aggregator
