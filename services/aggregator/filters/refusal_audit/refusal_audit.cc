#include "services/aggregator/filters/refusal_audit/refusal_audit.h"

#include "services/aggregator/audit/auditor.h"

namespace apimesh::aggregator {
namespace {

/// Records requests that are refused before the user is known (a malformed path, a bad timeout, failed authentication),
/// which do not reach the audit filter. As in kube-apiserver, such a request has one event, of the stage
/// ResponseStarted and without a user.
class RefusalAudit final : public Filter {
 public:
  explicit RefusalAudit(std::shared_ptr<Auditor> auditor) : auditor_(std::move(auditor)) {}

  Task<> Handle(Exchange& exchange, Next next) override {
    exchange.reply.KeepBody(Reply::Keep::kStatus);
    exchange.reply.BeforeHead([this, &exchange](bool) { return Record(exchange, AuditStage::kResponseStarted); });
    std::exception_ptr failure;
    try {
      co_await next(exchange);
    } catch (...) {
      failure = std::current_exception();
    }
    exchange.reply.BeforeHead(nullptr);
    if (!failure) co_return;
    if (!exchange.audit.decided) co_await Record(exchange, AuditStage::kPanic);
    std::rethrow_exception(failure);
  }

 private:
  Task<> Record(const Exchange& exchange, AuditStage stage) const {
    const meta::UserInfo unknown;
    const AuditPolicy::Decision decision = auditor_->Decide(unknown, exchange.info);
    if (decision.level == AuditLevel::kNone) co_return;
    co_await auditor_->Record(exchange, unknown, decision, stage);
  }

  const std::shared_ptr<Auditor> auditor_;
};

}  // namespace

std::shared_ptr<Filter> MakeRefusalAudit(const FilterInputs& inputs) {
  if (!inputs.auditor) return nullptr;
  return std::make_shared<RefusalAudit>(inputs.auditor);
}

}  // namespace apimesh::aggregator
