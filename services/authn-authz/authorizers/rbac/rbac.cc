#include "services/authn-authz/authorizers/rbac/rbac.h"

namespace apimesh::authn_authz {
namespace {

class Rbac final : public Authorizer {
 public:
  Rbac(std::shared_ptr<const RbacIndex> index, std::function<bool()> loaded)
      : index_(std::move(index)), loaded_(std::move(loaded)) {}

  std::optional<Decision> DecideNow(const Attributes& attributes) override {
    if (loaded_()) return index_->Decide(attributes);
    Decision decision = Decision::NoOpinion("RBAC: roles and bindings are not loaded yet");
    decision.reuse = Duration::zero();
    return decision;
  }

  void AddRules(const meta::UserInfo& user, const std::string& ns, RuleList& rules) override {
    if (!loaded_()) {
      rules.incomplete = true;
      rules.errors.push_back("roles and bindings are not loaded yet");
    }
    index_->AddRules(user, ns, rules);
  }

 private:
  std::shared_ptr<const RbacIndex> index_;
  std::function<bool()> loaded_;
};

}  // namespace

std::unique_ptr<Authorizer> NewRbac(std::shared_ptr<const RbacIndex> index, std::function<bool()> loaded) {
  return std::make_unique<Rbac>(std::move(index), std::move(loaded));
}

std::unique_ptr<Authorizer> MakeRbac(const AuthorizerInputs& inputs) {
  return NewRbac(inputs.state.rbac, inputs.state.loaded);
}

}  // namespace apimesh::authn_authz
