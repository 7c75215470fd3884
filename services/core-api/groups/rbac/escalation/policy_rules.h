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

/// The rules of a Role or ClusterRole.
std::vector<PolicyRule> RulesOf(const meta::Object& role);

/// A rule that no single held rule covers is compared in pieces of one group, resource, verb and name. A role may have
/// this many of them: the number of pieces is the product of the lengths of the lists.
inline constexpr std::size_t kMaxPieces = 10'000;

/// What `wanted` allows and `held` does not, in pieces. Nothing if there are more than kMaxPieces pieces to compare: then
/// it is not known whether the rules are covered.
std::optional<std::vector<PolicyRule>> Uncovered(std::vector<PolicyRule> held, const std::vector<PolicyRule>& wanted);

/// One line a rule, as the reference describes them: verbs of the same resource together, sorted.
std::vector<std::string> Describe(const std::vector<PolicyRule>& rules);

/// A list as Go's %q shows it: ["a" "b"].
std::string QuotedList(const std::vector<std::string>& texts);

}  // namespace apimesh::core_api
