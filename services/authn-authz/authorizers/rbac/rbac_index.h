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
/// A RoleBinding, or a ClusterRoleBinding if the namespace is empty.
struct Binding {
  std::string ns;
  std::string name;
  RoleRef role;
  std::vector<Subject> subjects;
  bool operator==(const Binding&) const = default;
};

/// All RBAC objects in memory, indexed so that a decision reads only entries of its user: subject -> scope (cluster or
/// namespace) -> distinct roles. A subject with many rules in one scope also has an index by verb, group, resource and
/// name, which is built at the first decision after a change. Thread-safe: decisions share a lock, changes are
/// exclusive.
class RbacIndex {
 public:
  RbacIndex();
  ~RbacIndex();

  /// `ns` is empty for a ClusterRole; nullopt deletes the role. Each of these functions returns whether anything
  /// changed.
  bool SetRole(const std::string& ns, const std::string& name, std::optional<std::vector<PolicyRule>> rules);
  bool SetBinding(Binding binding);
  bool RemoveBinding(const std::string& ns, const std::string& name);

  Decision Decide(const Attributes& attributes) const;
  void AddRules(const meta::UserInfo& user, const std::string& ns, RuleList& rules) const;

  /// {namespace, name} of all Roles (or ClusterRoles) and of all bindings, for replacing the complete state.
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
  // All members below are guarded by mutex_.
  std::unordered_map<std::string, RoleSlotPtr> roles_;  // by "namespace/name"; "/name": ClusterRole
  std::unordered_map<std::string, std::shared_ptr<const Binding>> bindings_;  // by "namespace/name"
  std::unordered_map<std::string, std::unique_ptr<SubjectGrants>> users_, groups_;
};

}  // namespace apimesh::authn_authz
