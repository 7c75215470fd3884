#include "services/aggregator/audit/backends/log_backend.h"

#include "services/aggregator/audit/backends/log_file.h"

namespace apimesh::aggregator {
namespace {

class LogBackend final : public AuditBackend {
 public:
  LogBackend(const AuditLogOptions& options, std::shared_ptr<AuditMetrics> metrics, const Clock& clock)
      : legacy_(options.format == "legacy"), metrics_(std::move(metrics)), file_(options, clock) {}

  Task<bool> Process(AuditEvents events) override {
    bool success = true;
    for (const AuditEventPtr& event : events) {
      const std::string error = legacy_ ? file_.Write({event->text}) : file_.Write(event->Line());
      if (error.empty()) continue;
      metrics_->Failed("log", error, 1);
      success = false;
    }
    co_return success;
  }

 private:
  const bool legacy_;
  const std::shared_ptr<AuditMetrics> metrics_;
  LogFile file_;
};

}  // namespace

AuditBackendPtr NewLogBackend(const AuditLogOptions& options, std::shared_ptr<AuditMetrics> metrics,
                              const Clock& clock) {
  return std::make_shared<LogBackend>(options, std::move(metrics), clock);
}

}  // namespace apimesh::aggregator
