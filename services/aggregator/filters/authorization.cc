#include "lib/meta/forbidden.h"
#include "services/aggregator/filters/filters.h"
#include "services/aggregator/health/lifecycle.h"

namespace apimesh::aggregator {
namespace {

class Authorization final : public Filter {
 public:
  explicit Authorization(std::shared_ptr<Authority> authority) : authority_(std::move(authority)) {}

  Task<> Handle(Exchange& exchange, Next next) override {
    AuthorizationQuestion question{exchange.user, exchange.info, exchange.audit_id, exchange.deadline};
    const AuthorizationAnswer answer = co_await authority_->Authorize(std::move(question));
    switch (answer.verdict) {
      case AuthorizationAnswer::Verdict::kAllow:
        co_await next(exchange);
        break;
      case AuthorizationAnswer::Verdict::kDeny:
        exchange.reply.SetHeader("x-content-type-options", "nosniff");
        co_await exchange.reply.SendError(meta::ForbiddenTo(exchange.user->info.name, exchange.info, answer.reason));
        break;
      case AuthorizationAnswer::Verdict::kUnavailable:
        // Probes must be able to tell a dead edge from a dead authn-authz. While that is up, they are asked for like
        // everything else: an anonymous /healthz turns 200 when the bootstrap roles allow it, as tools expect.
        if (IsHealthPath(exchange.path)) {
          co_await next(exchange);
          co_return;
        }
        co_await exchange.reply.SendError(NotAvailable(exchange, "authorization"));
    }
  }

 private:
  std::shared_ptr<Authority> authority_;
};

}  // namespace

std::shared_ptr<Filter> NewAuthorization(std::shared_ptr<Authority> authority) {
  return std::make_shared<Authorization>(std::move(authority));
}

}  // namespace apimesh::aggregator
