#pragma once

#include <string>
#include <vector>

#include "lib/admission/plugin.h"

namespace apimesh::admission::matching {

/// One element of `rules` of a webhook or of `resourceRules` of an admission policy.
class Rule {
 public:
  enum class Scope { kAll, kCluster, kNamespaced, kUnknown };
  struct Resource {
    std::string name;         // "*": any
    std::string subresource;  // "*": any, also none; "": only the resource itself
  };

  /// Reads a RuleWithOperations or a NamedRuleWithOperations. Unknown operations and scopes match nothing.
  explicit Rule(const meta::json::object& rule);

  /// Returns whether the rule selects this request, as if it were a request for `resource`, which is the requested
  /// resource or an equivalent of it.
  bool Matches(const Attributes& attributes, const meta::Gvr& resource) const;
  /// Returns whether such a request counts as one for a cluster-scoped resource.
  static bool IsClusterScoped(const Attributes& attributes, const meta::Gvr& resource);

  bool HasOperation(Operation operation) const { return (operations_ & (1U << static_cast<unsigned>(operation))) != 0; }
  Scope GetScope() const { return scope_; }
  const std::vector<std::string>& Groups() const { return groups_; }
  const std::vector<Resource>& Resources() const { return resources_; }

 private:
  bool MatchesScope(const Attributes& attributes, const meta::Gvr& resource) const;
  bool MatchesResource(std::string_view name, std::string_view subresource) const;

  unsigned operations_ = 0;  // one bit per Operation
  Scope scope_ = Scope::kAll;
  std::vector<std::string> groups_, versions_;
  std::vector<Resource> resources_;
  std::vector<std::string> names_;  // `resourceNames`; empty: all
};

}  // namespace apimesh::admission::matching
