#include "services/aggregator/filters/audit/audit.h"

#include "lib/meta/errors/forbidden.h"
#include "services/aggregator/audit/auditor.h"
#include "services/aggregator/edge/latency.h"

namespace apimesh::aggregator {
namespace {

/// The events of one request after the first one.
class Recording {
 public:
  Recording(const Auditor& auditor, Exchange& exchange, UserPtr user, const AuditPolicy::Decision& decision)
      : auditor_(auditor), exchange_(exchange), user_(std::move(user)), decision_(decision) {}

  Task<bool> Record(AuditStage stage, std::string_view panic = {}) const {
    return auditor_.Record(exchange_, user_->info, decision_, stage, panic);
  }

  /// A complete response waits for its last event, so that a client that has a response finds the event in a log that
  /// is written synchronously.
  Task<> BeforeHead(bool whole) {
    if (exchange_.long_running) co_await Record(AuditStage::kResponseStarted);
    if (!whole) co_return;
    complete_ = true;
    co_await RecordComplete();
  }
  Task<> End() {
    if (complete_) co_return;
    // Nothing was sent to the client, so the response has not started either.
    if (exchange_.long_running && exchange_.reply.Code() == 0) co_await Record(AuditStage::kResponseStarted);
    co_await RecordComplete();
  }

 private:
  Task<bool> RecordComplete() {
    AnnotateLatency(exchange_);
    return Record(AuditStage::kResponseComplete);
  }

  const Auditor& auditor_;
  Exchange& exchange_;
  const UserPtr user_;  // the authenticated user; impersonation runs later
  const AuditPolicy::Decision& decision_;
  bool complete_ = false;
};

class Audit final : public Filter {
 public:
  explicit Audit(std::shared_ptr<Auditor> auditor) : auditor_(std::move(auditor)) {}

  Task<> Handle(Exchange& exchange, Next next) override {
    exchange.audit.decided = true;
    const AuditPolicy::Decision decision = auditor_->Decide(exchange.user->info, exchange.info);
    exchange.reply.BeforeHead(nullptr);  // that of the filter "refusal audit"
    exchange.reply.KeepBody(Reply::Keep::kNothing);
    if (decision.level == AuditLevel::kNone) return next(exchange);
    return HandleAudited(exchange, std::move(next), decision);
  }

 private:
  Task<> HandleAudited(Exchange& exchange, Next next, AuditPolicy::Decision decision) {
    exchange.audit.wanted = true;
    exchange.audit.wants_request = decision.level >= AuditLevel::kRequest;
    const bool wants_response = decision.level == AuditLevel::kRequestResponse && !exchange.long_running;
    exchange.reply.KeepBody(wants_response ? Reply::Keep::kAll : Reply::Keep::kStatus);
    if (wants_response) {
      // A response that is recorded must be uncompressed; the edge compresses it for the client afterwards.
      std::erase_if(exchange.request.headers, [](const auto& header) { return header.first == "accept-encoding"; });
    }
    Recording recording(*auditor_, exchange, exchange.user, decision);
    const bool recorded = co_await recording.Record(AuditStage::kRequestReceived);
    if (!recorded) {
      auditor_->CountRejected();
      co_await exchange.reply.SendText(500, "text/plain; charset=utf-8",
                                       meta::InternalErrorText(exchange.request.target, "failed to store audit event"));
      co_return;
    }
    exchange.reply.BeforeHead([&recording](bool whole) { return recording.BeforeHead(whole); });
    std::exception_ptr failure;
    std::string panic;
    try {
      co_await next(exchange);
    } catch (const std::exception& error) {
      failure = std::current_exception();
      panic = error.what();
    } catch (...) {
      failure = std::current_exception();
    }
    exchange.reply.BeforeHead(nullptr);
    if (!failure) {
      co_await recording.End();
      co_return;
    }
    co_await recording.Record(AuditStage::kPanic, panic);
    std::rethrow_exception(failure);
  }

  const std::shared_ptr<Auditor> auditor_;
};

}  // namespace

std::shared_ptr<Filter> MakeAudit(const FilterInputs& inputs) {
  if (!inputs.auditor) return nullptr;
  return std::make_shared<Audit>(inputs.auditor);
}

}  // namespace apimesh::aggregator
