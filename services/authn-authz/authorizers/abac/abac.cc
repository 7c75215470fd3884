#include "services/authn-authz/authorizers/abac/abac.h"

namespace apimesh::authn_authz {
namespace {

bool Is(const std::string& pattern, const std::string& value) { return pattern == "*" || pattern == value; }

bool SubjectMatches(const AbacPolicy& policy, const meta::UserInfo& user) {
  bool matched = false;
  if (!policy.user.empty()) {
    if (!Is(policy.user, user.name)) return false;
    matched = true;
  }
  if (!policy.group.empty()) {
    if (policy.group != "*" && std::find(user.groups.begin(), user.groups.end(), policy.group) == user.groups.end()) {
      return false;
    }
    matched = true;
  }
  return matched;
}

bool TargetMatches(const AbacPolicy& policy, const Attributes& attributes) {
  if (attributes.is_resource_request) {
    return Is(policy.ns, attributes.ns) && Is(policy.resource, attributes.resource) &&
           Is(policy.api_group, attributes.api_group);
  }
  std::string_view pattern = policy.non_resource_path;
  if (pattern == attributes.path) return true;
  if (!pattern.ends_with('*')) return false;
  while (pattern.ends_with('*')) pattern.remove_suffix(1);
  return std::string_view(attributes.path).starts_with(pattern);
}

class Abac final : public Authorizer {
 public:
  explicit Abac(std::vector<AbacPolicy> policies) : policies_(std::move(policies)) {}

  std::optional<Decision> DecideNow(const Attributes& attributes) override {
    for (const AbacPolicy& policy : policies_) {
      if (SubjectMatches(policy, attributes.user) && (attributes.IsReadOnly() || !policy.readonly) &&
          TargetMatches(policy, attributes)) {
        return Decision::Allow();
      }
    }
    return Decision::NoOpinion("No policy matched.");
  }

  void AddRules(const meta::UserInfo& user, const std::string& ns, RuleList& rules) override {
    for (const AbacPolicy& policy : policies_) {
      if (!SubjectMatches(policy, user) || !Is(policy.ns, ns)) continue;
      const std::vector<std::string> verbs =
          policy.readonly ? std::vector<std::string>{"get", "list", "watch"} : std::vector<std::string>{"*"};
      if (!policy.resource.empty()) rules.resource_rules.push_back({verbs, {policy.api_group}, {policy.resource}, {}});
      if (!policy.non_resource_path.empty()) rules.non_resource_rules.push_back({verbs, {policy.non_resource_path}});
    }
  }

 private:
  const std::vector<AbacPolicy> policies_;
};

}  // namespace

std::unique_ptr<Authorizer> NewAbac(std::vector<AbacPolicy> policies) {
  return std::make_unique<Abac>(std::move(policies));
}

}  // namespace apimesh::authn_authz
