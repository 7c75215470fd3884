#include "services/aggregator/audit/audit_log.h"
#include "services/aggregator/filters/filters.h"

namespace apimesh::aggregator {
namespace {

class Audit final : public Filter {
 public:
  Audit(std::shared_ptr<AuditLog> log, const Clock& clock) : log_(std::move(log)), clock_(clock) {}

  Task<> Handle(Exchange& exchange, Next next) override {
    exchange.audit_decided = true;
    const UserPtr user = exchange.user;  // who really asks; impersonation comes later
    const AuditPolicy::Decision decision = log_->Policy().Evaluate(user->info, exchange.info);
    if (decision.level == AuditLevel::kNone) {
      co_await next(exchange);
      co_return;
    }
    exchange.audited = true;
    exchange.audits_body = decision.level >= AuditLevel::kRequest;  // of a request that is let through and has its body read
    exchange.reply.KeepBody();
    if (decision.level == AuditLevel::kRequestResponse) {
      // An answer that goes into the log has to come uncompressed; the edge compresses it for the client afterwards.
      std::erase_if(exchange.request.headers, [](const auto& header) { return header.first == "accept-encoding"; });
    }
    const auto write = [&](AuditStage stage) {
      if (decision.omitted[static_cast<int>(stage)]) return;
      log_->Write(AuditEvent(exchange, user->info, decision.level, stage, exchange.audited_body, clock_.Now()));
    };
    write(AuditStage::kRequestReceived);
    if (exchange.long_running) {
      exchange.reply.OnStart([&write] { write(AuditStage::kResponseStarted); });
    }
    std::exception_ptr failure;
    try {
      co_await next(exchange);
    } catch (...) {
      failure = std::current_exception();
    }
    exchange.reply.OnStart(nullptr);
    write(failure ? AuditStage::kPanic : AuditStage::kResponseComplete);
    if (failure) std::rethrow_exception(failure);
  }

 private:
  std::shared_ptr<AuditLog> log_;
  const Clock& clock_;
};

}  // namespace

std::shared_ptr<Filter> NewAudit(std::shared_ptr<AuditLog> log, const Clock& clock) { return std::make_shared<Audit>(std::move(log), clock); }

}  // namespace apimesh::aggregator
