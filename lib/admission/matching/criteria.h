#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/admission/matching/rule.h"
#include "lib/meta/selectors/selector.h"

namespace apimesh::admission::matching {

/// A request that matches, as the webhook or policy sees it. With the match policy Equivalent, this may be another
/// group and version than the requested one.
struct Match {
  meta::Gvr resource;
  meta::Gvk kind;
  bool operator==(const Match&) const = default;
};

/// The fields of a webhook or of a policy that select requests, except for match conditions. Immutable.
class Criteria {
 public:
  /// Reads `rules`, `matchPolicy`, `namespaceSelector` and `objectSelector` of a webhook. Without rules, it matches no
  /// request.
  static Criteria OfWebhook(const meta::json::object& webhook);
  /// Reads `matchConstraints` of a policy or `matchResources` of a binding. Without `resourceRules`, all requests match
  /// that `excludeResourceRules` does not exclude.
  static Criteria OfPolicy(const meta::json::object& match_resources);

  /// Returns how the rules match a request, or nullopt if they do not. The selectors are not considered. This needs no
  /// I/O.
  std::optional<Match> MatchRules(const Attributes& attributes) const;
  /// Returns whether these labels of the object or of the old object match. nullptr: there is no such object.
  bool MatchesObject(const meta::Labels* object, const meta::Labels* old_object) const;

  const std::vector<Rule>& Rules() const { return rules_; }
  bool MatchesWithoutRules() const { return matches_without_rules_; }
  const meta::LabelSelector& NamespaceSelector() const { return namespaces_; }
  const meta::LabelSelector& ObjectSelector() const { return objects_; }
  /// Returns the error of a selector that cannot be parsed, or "". The validation of the API does not let such a
  /// selector through. A request that otherwise matches must fail.
  const std::string& SelectorError() const { return selector_error_; }

 private:
  Criteria(const meta::json::object& from, std::string_view rules);
  std::optional<Match> FirstMatch(const std::vector<Rule>& rules, const Attributes& attributes) const;

  std::vector<Rule> rules_, excluded_;
  bool matches_without_rules_ = false;
  bool equivalent_ = false;  // the match policy is Equivalent, not Exact
  meta::LabelSelector namespaces_, objects_;
  std::string selector_error_;
};

/// Returns whether a request writes a configuration of admission itself. Webhooks and policies must not see such
/// requests, because a faulty one could then not be repaired.
bool IsAdmissionConfiguration(const Attributes& attributes);

}  // namespace apimesh::admission::matching
