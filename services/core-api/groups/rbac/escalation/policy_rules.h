#pragma once

#include <string>
#include <vector>

#include "lib/meta/object.h"

namespace apimesh::core_api {

/// A rule of a role.
struct PolicyRule {
  std::vector<std::string> verbs, groups, resources, names, urls;
};

/// The rules of a Role or ClusterRole.
std::vector<PolicyRule> RulesOf(const meta::Object& role);

/// What `wanted` allows and `held` does not, in pieces of one group, resource, verb and name.
std::vector<PolicyRule> Uncovered(const std::vector<PolicyRule>& held, const std::vector<PolicyRule>& wanted);

/// One line a rule, as the reference describes them: verbs of the same resource together, sorted.
std::vector<std::string> Describe(const std::vector<PolicyRule>& rules);

/// A list as Go's %q shows it: ["a" "b"].
std::string QuotedList(const std::vector<std::string>& texts);

}  // namespace apimesh::core_api
