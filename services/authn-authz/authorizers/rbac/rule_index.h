#pragma once

#include "services/authn-authz/authorizers/rbac/policy_rule.h"

namespace apimesh::authn_authz {

/// Finds rules that may allow a request by a hash of verb, group, resource and name, including wildcards. It holds
/// pointers to the rules, which must outlive it. Immutable once built, so readers need no lock.
class RuleIndex {
 public:
  void Add(std::size_t owner, const PolicyRule& rule);
  /// Returns the smallest owner with a rule that allows the request, or nullopt if there is none.
  std::optional<std::size_t> Find(const Attributes& attributes) const;

 private:
  struct Entry {
    std::size_t owner;
    const PolicyRule* rule;
  };
  std::unordered_map<std::uint64_t, std::vector<Entry>> resources_;
  std::vector<Entry> urls_;  // patterns can't be hashed, and there are few
  // Rules with too many combinations of their lists, which are compared one after the other: a rule of 1 MB can have
  // millions of combinations.
  std::vector<Entry> wide_;
};

}  // namespace apimesh::authn_authz
