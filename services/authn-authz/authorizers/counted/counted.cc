#include "services/authn-authz/authorizers/counted/counted.h"

namespace apimesh::authn_authz {
namespace {

service::Counter CounterOf(service::Metrics& metrics, const std::string& type, const std::string& name,
                           const char* decision) {
  return metrics.GetCounter("apiserver_authorization_decisions_total",
                            "Decisions by the authorizer that made them; edges keep answers for a while.",
                            {{"type", type}, {"name", name}, {"decision", decision}});
}

class Counted final : public Authorizer {
 public:
  Counted(std::unique_ptr<Authorizer> inner, const std::string& type, const std::string& name,
          service::Metrics& metrics)
      : inner_(std::move(inner)),
        allowed_(CounterOf(metrics, type, name, "allowed")),
        denied_(CounterOf(metrics, type, name, "denied")) {}

  std::optional<Decision> DecideNow(const Attributes& attributes) override {
    std::optional<Decision> decision = inner_->DecideNow(attributes);
    if (decision) Count(*decision);
    return decision;
  }
  Task<Decision> Decide(AttributesPtr attributes) override {
    Decision decision = co_await inner_->Decide(std::move(attributes));
    Count(decision);
    co_return decision;
  }
  void AddRules(const meta::UserInfo& user, const std::string& ns, RuleList& rules) override {
    inner_->AddRules(user, ns, rules);
  }

 private:
  void Count(const Decision& decision) {
    if (decision.verdict == Decision::Verdict::kAllow) allowed_.Add();
    if (decision.verdict == Decision::Verdict::kDeny) denied_.Add();
  }

  const std::unique_ptr<Authorizer> inner_;
  service::Counter allowed_, denied_;
};

}  // namespace

std::unique_ptr<Authorizer> NewCounted(std::unique_ptr<Authorizer> inner, const std::string& type,
                                       const std::string& name, service::Metrics& metrics) {
  return std::make_unique<Counted>(std::move(inner), type, name, metrics);
}

}  // namespace apimesh::authn_authz
