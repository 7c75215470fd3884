#include "services/aggregator/filters/authorization/authorization.h"

#include "lib/meta/errors/forbidden.h"
#include "services/aggregator/filters/deadline/deadline.h"
#include "services/aggregator/health/lifecycle.h"
#include "services/aggregator/metrics/auth_metrics.h"

namespace apimesh::aggregator {
namespace {

using Verdict = AuthorizationAnswer::Verdict;

AuthMetrics::Authorization ResultOf(const AuthorizationAnswer& answer) {
  if (answer.verdict == Verdict::kAllow) return AuthMetrics::Authorization::kAllowed;
  if (answer.verdict == Verdict::kUnavailable || !answer.error.empty()) return AuthMetrics::Authorization::kError;
  return answer.no_opinion ? AuthMetrics::Authorization::kNoOpinion : AuthMetrics::Authorization::kDenied;
}

void Annotate(Exchange& exchange, const AuthorizationAnswer& answer) {
  const bool allowed = answer.verdict == Verdict::kAllow;
  if (!allowed && (answer.verdict == Verdict::kUnavailable || !answer.error.empty())) {
    exchange.audit.annotations["authorization.k8s.io/reason"] = "internal error";
    return;
  }
  exchange.audit.annotations["authorization.k8s.io/decision"] = allowed ? "allow" : "forbid";
  exchange.audit.annotations["authorization.k8s.io/reason"] = answer.reason;
}

class Authorization final : public Filter {
 public:
  Authorization(std::shared_ptr<Authority> authority, std::shared_ptr<AuthMetrics> metrics, const Clock& clock)
      : authority_(std::move(authority)), metrics_(std::move(metrics)), clock_(clock) {}

  Task<> Handle(Exchange& exchange, Next next) override {
    AuthorizationQuestion question{exchange.user, exchange.info, exchange.audit_id, exchange.deadline};
    if (exchange.grounds) exchange.grounds->permissions.push_back(question);
    question.span = exchange.trace.span;
    const SteadyTime began = clock_.Steady();
    const AuthorizationAnswer answer = co_await authority_->Authorize(std::move(question));
    exchange.latency.authorization = clock_.Steady() - began;
    metrics_->Authorized(ResultOf(answer), exchange.latency.authorization);
    if (exchange.audit.wanted) Annotate(exchange, answer);
    switch (answer.verdict) {
      case AuthorizationAnswer::Verdict::kAllow: co_await next(exchange); break;
      case AuthorizationAnswer::Verdict::kDeny:
        exchange.reply.SetHeader("x-content-type-options", "nosniff");
        if (!answer.error.empty()) {  // no authorizer allowed it, and at least one failed
          co_await exchange.reply.SendText(500, "text/plain; charset=utf-8",
                                           meta::InternalErrorText(exchange.request.target, answer.error));
          co_return;
        }
        co_await exchange.reply.SendError(meta::ForbiddenTo(exchange.user->info.name, exchange.info, answer.reason));
        break;
      case AuthorizationAnswer::Verdict::kUnavailable:
        // Probes must be able to distinguish a failed edge from a failed authn-authz. While authn-authz is up, health
        // paths are authorized like all others: an anonymous /healthz returns 200 when the bootstrap roles allow it, as
        // tools expect.
        if (IsHealthPath(exchange.path)) {
          co_await next(exchange);
          co_return;
        }
        co_await exchange.reply.SendError(NotAvailable(exchange, "authorization"));
    }
  }

 private:
  const std::shared_ptr<Authority> authority_;
  const std::shared_ptr<AuthMetrics> metrics_;
  const Clock& clock_;
};

}  // namespace

std::shared_ptr<Filter> MakeAuthorization(const FilterInputs& inputs) {
  return std::make_shared<Authorization>(inputs.authority, inputs.auth_metrics, inputs.clock);
}

}  // namespace apimesh::aggregator
