#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/meta/object.h"

namespace apimesh::core_api {

/// A rule of a role.
struct PolicyRule {
  std::vector<std::string> verbs, groups, resources, names, urls;
};

/// Returns the rules of a Role or ClusterRole.
std::vector<PolicyRule> RulesOf(const meta::Object& role);

/// A rule that no single held rule covers is compared in combinations of one group, resource, verb and name. This is
/// the maximum number of combinations per role; their number is the product of the lengths of the lists.
inline constexpr std::size_t kMaxPieces = 10'000;

/// Returns the combinations that `wanted` allows and `held` does not. Returns nullopt if there are more than kMaxPieces
/// to compare; it is then unknown whether the rules are covered.
std::optional<std::vector<PolicyRule>> Uncovered(std::vector<PolicyRule> held, const std::vector<PolicyRule>& wanted);

/// Describes the rules as kube-apiserver does: one line per rule, with the sorted verbs of a resource combined.
std::vector<std::string> Describe(const std::vector<PolicyRule>& rules);

/// Formats a list like Go's %q: ["a" "b"].
std::string QuotedList(const std::vector<std::string>& texts);

}  // namespace apimesh::core_api
