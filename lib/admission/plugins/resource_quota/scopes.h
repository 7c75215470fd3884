#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <boost/system/result.hpp>

#include "lib/meta/object.h"

namespace apimesh::admission::resource_quota {

/// One condition of a quota on the objects that it counts (core/v1 ScopedResourceSelectorRequirement).
struct ScopeRequirement {
  std::string scope;  // "Terminating", "PriorityClass", …
  std::string op;     // "In", "NotIn", "Exists" or "DoesNotExist"
  std::vector<std::string> values;
};

/// Reads a list of requirements, such as spec.scopeSelector.matchExpressions.
std::vector<ScopeRequirement> ReadRequirements(const meta::json::array& list);
/// Returns all conditions of a quota: its `scopes` and its `scopeSelector`.
std::vector<ScopeRequirement> RequirementsOf(const meta::json::object& quota_spec);
/// Returns the text that error messages of kube-apiserver show: "[{PriorityClass In [high low]}]".
std::string ToString(const std::vector<ScopeRequirement>& requirements);

/// The scopes that an object of some kind can be in, and those that it is in. An object without scopes matches no
/// requirement.
class Scopes {
 public:
  /// A scope without values. The operator of a requirement does not matter.
  void Set(std::string_view scope, bool is_in);
  /// A scope with values, such as the name of the priority class. Without values, the object is not in the scope.
  void SetValues(std::string_view scope, std::vector<std::string> values);

  /// Returns whether the object meets the requirement. If a value of the requirement is not a valid label value,
  /// returns the error text of kube-apiserver.
  boost::system::result<bool, std::string> Match(const ScopeRequirement& requirement) const;

 private:
  struct Membership {
    bool is_in;
    bool has_values;
    std::vector<std::string> values;
  };
  std::map<std::string, Membership, std::less<>> scopes_;
};

}  // namespace apimesh::admission::resource_quota
