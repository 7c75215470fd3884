#include "services/aggregator/audit/audit_metrics.h"

#include "lib/base/log.h"

namespace apimesh::aggregator {
namespace {

constexpr std::chrono::seconds kBetweenLines{1};

service::Counter LevelCounter(service::Metrics& metrics, AuditLevel level) {
  return metrics.GetCounter("apiserver_audit_level_total", "Counter of policy levels for audit events (1 per request).",
                            {{"level", std::string(ToString(level))}});
}

}  // namespace

AuditMetrics::AuditMetrics(service::Metrics& metrics, const Clock& clock)
    : metrics_(metrics),
      clock_(clock),
      events_(metrics.GetCounter("apiserver_audit_event_total",
                                 "Counter of audit events generated and sent to the audit backend.")),
      rejected_(
          metrics.GetCounter("apiserver_audit_requests_rejected_total",
                             "Counter of apiserver requests rejected due to an error in audit logging backend.")) {}

void AuditMetrics::Decided(AuditLevel level) {
  Level& used = levels_[static_cast<int>(level)];
  std::call_once(used.used, [&] { used.counter = LevelCounter(metrics_, level); });
  used.counter->Add();
}

void AuditMetrics::Failed(std::string_view plugin, std::string_view error, std::size_t events) {
  metrics_
      .GetCounter("apiserver_audit_error_total",
                  "Counter of audit events that failed to be audited properly. Plugin identifies the plugin affected "
                  "by the error.",
                  {{"plugin", std::string(plugin)}})
      .Add(static_cast<double>(events));
  std::unique_lock lock(mutex_);
  unreported_ += events;
  const SteadyTime now = clock_.Steady();
  if (now < next_line_) return;
  next_line_ = now + kBetweenLines;
  const std::size_t count = std::exchange(unreported_, 0);
  lock.unlock();
  log::Error("Error in audit plugin '{}' affecting {} audit events: {}", plugin, count, error);
}

}  // namespace apimesh::aggregator
