#include "services/authn-authz/authorizers/always/always.h"

namespace apimesh::authn_authz {
namespace {

const ResourceRule kEveryResource{{"*"}, {"*"}, {"*"}, {}};
const NonResourceRule kEveryPath{{"*"}, {"*"}};

class AlwaysAllow final : public Authorizer {
 public:
  std::optional<Decision> DecideNow(const Attributes&) override { return Decision::Allow(); }
  void AddRules(const meta::UserInfo&, const std::string&, RuleList& rules) override {
    rules.resource_rules.push_back(kEveryResource);
    rules.non_resource_rules.push_back(kEveryPath);
  }
};

class AlwaysDeny final : public Authorizer {
 public:
  std::optional<Decision> DecideNow(const Attributes&) override {
    return Decision::NoOpinion("Everything is forbidden.");
  }
  void AddRules(const meta::UserInfo&, const std::string&, RuleList&) override {}
};

class PrivilegedGroup final : public Authorizer {
 public:
  explicit PrivilegedGroup(std::string group) : group_(std::move(group)) {}
  std::optional<Decision> DecideNow(const Attributes& attributes) override {
    const auto& groups = attributes.user.groups;
    const bool member = std::find(groups.begin(), groups.end(), group_) != groups.end();
    return member ? Decision::Allow() : Decision::NoOpinion();
  }
  // As in kube-apiserver, this group is not listed here but by the other authorizers.
  void AddRules(const meta::UserInfo&, const std::string&, RuleList&) override {}

 private:
  const std::string group_;
};

}  // namespace

std::unique_ptr<Authorizer> NewAlwaysAllow() { return std::make_unique<AlwaysAllow>(); }
std::unique_ptr<Authorizer> NewAlwaysDeny() { return std::make_unique<AlwaysDeny>(); }
std::unique_ptr<Authorizer> NewPrivilegedGroup(std::string group) {
  return std::make_unique<PrivilegedGroup>(std::move(group));
}

std::unique_ptr<Authorizer> MakeAlwaysAllow(const AuthorizerInputs&) { return NewAlwaysAllow(); }
std::unique_ptr<Authorizer> MakeAlwaysDeny(const AuthorizerInputs&) { return NewAlwaysDeny(); }

}  // namespace apimesh::authn_authz
