#pragma once

#include "services/authn-authz/authorizers/rbac/policy_rule.h"

namespace apimesh::authn_authz {

/// Finds the rules that may allow a request by hash of verb, group, resource and name, wildcards included. Holds pointers
/// to rules: lives no longer than they do. Immutable once built, so readers need no lock.
class RuleIndex {
 public:
  void Add(std::size_t owner, const PolicyRule& rule);
  /// The smallest owner with a rule that allows this; nullopt if there is none.
  std::optional<std::size_t> Find(const Attributes& attributes) const;

 private:
  struct Entry {
    std::size_t owner;
    const PolicyRule* rule;
  };
  std::unordered_map<std::uint64_t, std::vector<Entry>> resources_;
  std::vector<Entry> urls_;  // patterns can't be hashed; there are few
};

}  // namespace apimesh::authn_authz
