#pragma once

#include <shared_mutex>

#include "services/authn-authz/authorizers/rbac/policy_rule.h"

namespace apimesh::authn_authz {

struct RoleRef {
  std::string kind;  // "Role" or "ClusterRole"
  std::string name;
  bool operator==(const RoleRef&) const = default;
};
struct Subject {
  std::string kind;  // "User", "Group" or "ServiceAccount"
  std::string ns;
  std::string name;
  bool operator==(const Subject&) const = default;
};
/// A RoleBinding, or with an empty namespace a ClusterRoleBinding.
struct Binding {
  std::string ns;
  std::string name;
  RoleRef role;
  std::vector<Subject> subjects;
  bool operator==(const Binding&) const = default;
};

/// All of RBAC in memory, indexed so that a question touches only what concerns its user: subject -> scope (cluster or
/// namespace) -> distinct roles. A subject that holds many rules in one scope gets an index by verb, group, resource and
/// name as well, built at the first question after a change. Thread-safe: questions share a lock, changes are exclusive.
class RbacIndex {
 public:
  RbacIndex();
  ~RbacIndex();

  /// `ns` is empty for a ClusterRole. nullopt: deleted. Each returns whether anything changed.
  bool SetRole(const std::string& ns, const std::string& name, std::optional<std::vector<PolicyRule>> rules);
  bool SetBinding(Binding binding);
  bool RemoveBinding(const std::string& ns, const std::string& name);

  Decision Decide(const Attributes& attributes) const;
  void AddRules(const meta::UserInfo& user, const std::string& ns, RuleList& rules) const;

  /// Names in a scope, for replacing the whole state: {namespace, name} of Roles (or ClusterRoles) and of bindings.
  std::vector<std::pair<std::string, std::string>> RoleNames(bool cluster) const;
  std::vector<std::pair<std::string, std::string>> BindingNames(bool cluster) const;

 private:
  struct RoleSlot;
  struct Scope;
  struct SubjectGrants;
  using RoleSlotPtr = std::shared_ptr<RoleSlot>;

  RoleSlotPtr SlotFor(const Binding& binding);
  void Link(const std::shared_ptr<const Binding>& binding);
  void Unlink(const Binding& binding);
  template <class Visitor>
  void VisitScopes(const meta::UserInfo& user, const std::string& ns, Visitor visit) const;

  mutable std::shared_mutex mutex_;
  // All below guarded by mutex_.
  std::unordered_map<std::string, RoleSlotPtr> roles_;                       // by "namespace/name"; "/name": ClusterRole
  std::unordered_map<std::string, std::shared_ptr<const Binding>> bindings_;  // by "namespace/name"
  std::unordered_map<std::string, std::unique_ptr<SubjectGrants>> users_, groups_;
};

}  // namespace apimesh::authn_authz
