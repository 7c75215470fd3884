#include "services/aggregator/audit/audit_log.h"
#include "services/aggregator/filters/filters.h"

namespace apimesh::aggregator {
namespace {

/// Requests that are refused before it is known who sent them (a malformed path, a bad timeout, failed authentication)
/// never come to the audit filter. They have one event, as in the reference: of the stage ResponseStarted, without a
/// user.
class RefusalAudit final : public Filter {
 public:
  RefusalAudit(std::shared_ptr<AuditLog> log, const Clock& clock) : log_(std::move(log)), clock_(clock) {}

  Task<> Handle(Exchange& exchange, Next next) override {
    exchange.reply.KeepBody();
    std::exception_ptr failure;
    try {
      co_await next(exchange);
    } catch (...) {
      failure = std::current_exception();
    }
    if (!exchange.audit_decided) Write(exchange, failure ? AuditStage::kPanic : AuditStage::kResponseStarted);
    if (failure) std::rethrow_exception(failure);
  }

 private:
  void Write(const Exchange& exchange, AuditStage stage) const {
    const meta::UserInfo nobody;
    const AuditPolicy::Decision decision = log_->Policy().Evaluate(nobody, exchange.info);
    if (decision.level == AuditLevel::kNone || decision.omitted[static_cast<int>(stage)]) return;
    log_->Write(AuditEvent(exchange, nobody, decision.level, stage, "", clock_.Now()));
  }

  const std::shared_ptr<AuditLog> log_;
  const Clock& clock_;
};

}  // namespace

std::shared_ptr<Filter> NewRefusalAudit(std::shared_ptr<AuditLog> log, const Clock& clock) {
  return std::make_shared<RefusalAudit>(std::move(log), clock);
}

}  // namespace apimesh::aggregator
