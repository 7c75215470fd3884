#include "services/authn-authz/authorizers/rbac/rbac_index.h"

#include "lib/credentials/service_account_token.h"
#include "lib/meta/errors/field_error.h"
#include "services/authn-authz/authorizers/rbac/rule_index.h"
#include "services/authn-authz/config/join_errors.h"

namespace apimesh::authn_authz {
namespace {

// Below this number of rules, a linear search is as fast as hashing.
constexpr std::size_t kIndexFrom = 32;

std::string KeyOf(std::string_view ns, std::string_view name) { return std::string(ns).append("/").append(name); }

// Returns the user name of a subject; "" if it can't match any user.
std::string UserOf(const Subject& subject, const std::string& binding_ns) {
  if (subject.kind == "User") return subject.name;
  if (subject.kind != "ServiceAccount") return {};
  const std::string& ns = subject.ns.empty() ? binding_ns : subject.ns;
  return ns.empty() ? std::string() : credentials::ServiceAccountUsername(ns, subject.name);
}

bool AppliesTo(const Subject& subject, const std::string& binding_ns, const meta::UserInfo& user) {
  if (subject.kind == "Group") {
    return std::find(user.groups.begin(), user.groups.end(), subject.name) != user.groups.end();
  }
  return (subject.kind == "User" || subject.kind == "ServiceAccount") && UserOf(subject, binding_ns) == user.name;
}

std::string Describe(const Binding& binding, const meta::UserInfo& user) {
  std::string who;
  for (const Subject& subject : binding.subjects) {
    if (!AppliesTo(subject, binding.ns, user)) continue;
    const std::string& ns = subject.ns.empty() ? binding.ns : subject.ns;
    who = subject.kind == "ServiceAccount" ? fmt::format("{} {}", subject.kind, meta::Quoted(subject.name + "/" + ns))
                                           : fmt::format("{} {}", subject.kind, meta::Quoted(subject.name));
    break;
  }
  const std::string name = binding.ns.empty() ? binding.name : binding.name + "/" + binding.ns;
  return fmt::format("{} {} of {} {} to {}", binding.ns.empty() ? "ClusterRoleBinding" : "RoleBinding",
                     meta::Quoted(name), binding.role.kind, meta::Quoted(binding.role.name), who);
}

// Returns the key of the binding's role. An invalid reference gets a key that no role has.
std::string RoleKey(const Binding& binding) {
  if (binding.role.kind == "ClusterRole") return KeyOf("", binding.role.name);
  if (binding.role.kind == "Role" && !binding.ns.empty()) return KeyOf(binding.ns, binding.role.name);
  return KeyOf(binding.role.kind + "/", binding.role.name);
}

std::string MissingRole(const Binding& binding) {
  if (binding.role.kind != "Role" && binding.role.kind != "ClusterRole") {
    return fmt::format("unsupported role reference kind: {}", meta::Quoted(binding.role.kind));
  }
  return fmt::format("{}.rbac.authorization.k8s.io {} not found", binding.role.kind == "Role" ? "role" : "clusterrole",
                     meta::Quoted(binding.role.name));
}

/// The memory of the rules that are listed for a user. The owner of a namespace can give a user gigabytes of rules.
constexpr std::size_t kMostListedBytes = 4 << 20;

std::size_t BytesOf(const PolicyRule& rule) {
  std::size_t bytes = sizeof(rule);
  for (const auto* list :
       {&rule.verbs, &rule.api_groups, &rule.resources, &rule.resource_names, &rule.non_resource_urls}) {
    for (const std::string& text : *list) bytes += sizeof(text) + text.size();
  }
  return bytes;
}

}  // namespace

/// A role that exists or that a binding refers to.
struct RbacIndex::RoleSlot {
  std::optional<std::vector<PolicyRule>> rules;
  std::unordered_map<Scope*, std::size_t> scopes;  // the scopes that grant the role, with the number of bindings
};

/// The grants of one subject, cluster-wide or in one namespace.
struct RbacIndex::Scope {
  struct Grant {
    RoleSlotPtr role;
    std::map<std::string, std::shared_ptr<const Binding>> bindings;  // by name; the first one is reported as the reason
  };
  /// An index of the grants, built if there are many.
  struct Prepared {
    RuleIndex rules;
    std::vector<const Grant*> missing;  // grants whose role does not exist
  };
  std::vector<Grant> grants;
  // nullptr until a decision needs it; reset by every change. Readers build it under the shared lock. Two readers may
  // build the same index at once, which is harmless.
  mutable std::atomic<std::shared_ptr<const Prepared>> prepared;

  bool IsSmall() const {
    if (grants.size() >= kIndexFrom) return false;
    std::size_t count = 0;
    for (const Grant& grant : grants) count += grant.role->rules ? grant.role->rules->size() : 0;
    return count < kIndexFrom;
  }

  std::shared_ptr<const Prepared> Prepare() const {
    if (auto ready = prepared.load()) return ready;
    auto fresh = std::make_shared<Prepared>();
    for (std::size_t i = 0; i < grants.size(); ++i) {
      if (!grants[i].role->rules) {
        fresh->missing.push_back(&grants[i]);
        continue;
      }
      for (const PolicyRule& rule : *grants[i].role->rules) fresh->rules.Add(i, rule);
    }
    prepared.store(fresh);
    return fresh;
  }

  /// Returns the grant that allows the request, or nullptr. In the latter case `missing` contains all grants whose role
  /// does not exist.
  const Grant* Find(const Attributes& attributes, std::vector<const Grant*>& missing) const {
    if (IsSmall()) {
      for (const Grant& grant : grants) {
        if (!grant.role->rules) {
          missing.push_back(&grant);
          continue;
        }
        for (const PolicyRule& rule : *grant.role->rules) {
          if (RuleAllows(rule, attributes)) return &grant;
        }
      }
      return nullptr;
    }
    const std::shared_ptr<const Prepared> ready = Prepare();
    if (const std::optional<std::size_t> owner = ready->rules.Find(attributes)) return &grants[*owner];
    missing.insert(missing.end(), ready->missing.begin(), ready->missing.end());
    return nullptr;
  }
};

struct RbacIndex::SubjectGrants {
  std::unordered_map<std::string, std::unique_ptr<Scope>> scopes;  // by namespace, "" for the cluster
};

RbacIndex::RbacIndex() = default;
RbacIndex::~RbacIndex() = default;

bool RbacIndex::SetRole(const std::string& ns, const std::string& name, std::optional<std::vector<PolicyRule>> rules) {
  const std::unique_lock lock(mutex_);
  const std::string key = KeyOf(ns, name);
  RoleSlotPtr& slot = roles_[key];
  if (!slot) slot = std::make_shared<RoleSlot>();
  const bool changed = slot->rules != rules;
  if (changed) {
    // The indexes point to the old rules and must be dropped first.
    for (const auto& [scope, count] : slot->scopes) scope->prepared.store(nullptr);
    slot->rules = std::move(rules);
  }
  if (!slot->rules && slot->scopes.empty()) roles_.erase(key);
  return changed;
}

RbacIndex::RoleSlotPtr RbacIndex::SlotFor(const Binding& binding) {
  RoleSlotPtr& slot = roles_[RoleKey(binding)];
  if (!slot) slot = std::make_shared<RoleSlot>();
  return slot;
}

void RbacIndex::Link(const std::shared_ptr<const Binding>& binding) {
  const RoleSlotPtr slot = SlotFor(*binding);
  for (const Subject& subject : binding->subjects) {
    const bool group = subject.kind == "Group";
    const std::string name = group ? subject.name : UserOf(subject, binding->ns);
    if (name.empty()) continue;
    std::unique_ptr<SubjectGrants>& holder = (group ? groups_ : users_)[name];
    if (!holder) holder = std::make_unique<SubjectGrants>();
    std::unique_ptr<Scope>& scope = holder->scopes[binding->ns];
    if (!scope) scope = std::make_unique<Scope>();
    auto grant =
        std::find_if(scope->grants.begin(), scope->grants.end(), [&](const auto& g) { return g.role == slot; });
    if (grant == scope->grants.end()) grant = scope->grants.insert(scope->grants.end(), {slot, {}});
    if (grant->bindings.emplace(binding->name, binding).second) ++slot->scopes[scope.get()];
    scope->prepared.store(nullptr);
  }
}

void RbacIndex::Unlink(const Binding& binding) {
  const RoleSlotPtr slot = SlotFor(binding);
  for (const Subject& subject : binding.subjects) {
    const bool group = subject.kind == "Group";
    auto& holders = group ? groups_ : users_;
    const auto holder = holders.find(group ? subject.name : UserOf(subject, binding.ns));
    if (holder == holders.end()) continue;
    const auto scope = holder->second->scopes.find(binding.ns);
    if (scope == holder->second->scopes.end()) continue;
    auto& grants = scope->second->grants;
    const auto grant = std::find_if(grants.begin(), grants.end(), [&](const auto& g) { return g.role == slot; });
    if (grant == grants.end() || grant->bindings.erase(binding.name) == 0) continue;
    scope->second->prepared.store(nullptr);
    if (--slot->scopes[scope->second.get()] == 0) slot->scopes.erase(scope->second.get());
    if (grant->bindings.empty()) grants.erase(grant);
    if (grants.empty()) holder->second->scopes.erase(scope);
    if (holder->second->scopes.empty()) holders.erase(holder);
  }
  if (!slot->rules && slot->scopes.empty()) roles_.erase(RoleKey(binding));
}

bool RbacIndex::SetBinding(Binding binding) {
  const std::unique_lock lock(mutex_);
  std::shared_ptr<const Binding>& stored = bindings_[KeyOf(binding.ns, binding.name)];
  if (stored && *stored == binding) return false;
  if (stored) Unlink(*stored);
  stored = std::make_shared<const Binding>(std::move(binding));
  Link(stored);
  return true;
}

bool RbacIndex::RemoveBinding(const std::string& ns, const std::string& name) {
  const std::unique_lock lock(mutex_);
  const auto it = bindings_.find(KeyOf(ns, name));
  if (it == bindings_.end()) return false;
  Unlink(*it->second);
  bindings_.erase(it);
  return true;
}

template <class Visitor>
void RbacIndex::VisitScopes(const meta::UserInfo& user, const std::string& ns, Visitor visit) const {
  static const std::string cluster;
  for (const std::string* scope_name : {&cluster, &ns}) {
    const auto look = [&](const auto& holders, const std::string& subject) {
      const auto holder = holders.find(subject);
      if (holder == holders.end()) return true;
      const auto scope = holder->second->scopes.find(*scope_name);
      return scope == holder->second->scopes.end() || visit(*scope->second);
    };
    if (!look(users_, user.name)) return;
    for (const std::string& group : user.groups) {
      if (!look(groups_, group)) return;
    }
    if (ns.empty()) return;
  }
}

Decision RbacIndex::Decide(const Attributes& attributes) const {
  const std::shared_lock lock(mutex_);
  const Binding* allowed_by = nullptr;
  std::vector<const Scope::Grant*> missing;
  VisitScopes(attributes.user, attributes.ns, [&](const Scope& scope) {
    const Scope::Grant* grant = scope.Find(attributes, missing);
    if (grant) allowed_by = grant->bindings.begin()->second.get();
    return grant == nullptr;
  });
  if (allowed_by) return Decision::Allow("RBAC: allowed by " + Describe(*allowed_by, attributes.user));
  if (missing.empty()) return Decision::NoOpinion();
  std::vector<std::string> errors;
  for (const Scope::Grant* grant : missing) errors.push_back(MissingRole(*grant->bindings.begin()->second));
  return Decision::NoOpinion("RBAC: " + JoinErrors(errors));
}

void RbacIndex::AddRules(const meta::UserInfo& user, const std::string& ns, RuleList& rules) const {
  const std::shared_lock lock(mutex_);
  std::vector<std::string> errors;
  std::size_t bytes = 0;
  VisitScopes(user, ns, [&](const Scope& scope) {
    for (const Scope::Grant& grant : scope.grants) {
      if (!grant.role->rules) {
        errors.push_back(MissingRole(*grant.bindings.begin()->second));
        continue;
      }
      for (const PolicyRule& rule : *grant.role->rules) {
        bytes += BytesOf(rule);
        if (bytes > kMostListedBytes) return false;
        if (!rule.resources.empty()) {
          rules.resource_rules.push_back({rule.verbs, rule.api_groups, rule.resources, rule.resource_names});
        }
        if (!rule.non_resource_urls.empty()) rules.non_resource_rules.push_back({rule.verbs, rule.non_resource_urls});
      }
    }
    return true;
  });
  if (bytes > kMostListedBytes) {
    rules.incomplete = true;
    errors.emplace_back("there are too many rules to list them all");
  }
  if (!errors.empty()) rules.errors.push_back(JoinErrors(errors));
}

std::vector<std::pair<std::string, std::string>> RbacIndex::RoleNames(bool cluster) const {
  const std::shared_lock lock(mutex_);
  std::vector<std::pair<std::string, std::string>> names;
  for (const auto& [key, slot] : roles_) {
    const std::size_t slash = key.rfind('/');
    if (slot->rules && (slash == 0) == cluster) names.emplace_back(key.substr(0, slash), key.substr(slash + 1));
  }
  return names;
}

std::vector<std::pair<std::string, std::string>> RbacIndex::BindingNames(bool cluster) const {
  const std::shared_lock lock(mutex_);
  std::vector<std::pair<std::string, std::string>> names;
  for (const auto& [key, binding] : bindings_) {
    if (binding->ns.empty() == cluster) names.emplace_back(binding->ns, binding->name);
  }
  return names;
}

}  // namespace apimesh::authn_authz
