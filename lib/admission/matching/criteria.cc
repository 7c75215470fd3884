#include "lib/admission/matching/criteria.h"

#include <algorithm>

#include "lib/admission/fields.h"

namespace apimesh::admission::matching {
namespace {

std::vector<Rule> RulesIn(const json::object& object, std::string_view name) {
  std::vector<Rule> rules;
  ForEach(object, name, [&rules](const json::object& rule) { rules.emplace_back(rule); });
  return rules;
}

}  // namespace

Criteria::Criteria(const json::object& from, std::string_view rules)
    : rules_(RulesIn(from, rules)), equivalent_(meta::FindString(from, "matchPolicy") == "Equivalent") {
  const auto read = [&](std::string_view name, meta::LabelSelector& selector) {
    meta::Result<meta::LabelSelector> parsed = meta::LabelSelector::FromObject(ObjectAt(from, name));
    if (parsed) {
      selector = std::move(*parsed);
    } else {
      selector_error_ = parsed.error().Message();
    }
  };
  read("namespaceSelector", namespaces_);
  read("objectSelector", objects_);
}

Criteria Criteria::OfWebhook(const json::object& webhook) { return {webhook, "rules"}; }

Criteria Criteria::OfPolicy(const json::object& match_resources) {
  Criteria criteria(match_resources, "resourceRules");
  criteria.excluded_ = RulesIn(match_resources, "excludeResourceRules");
  criteria.matches_without_rules_ = criteria.rules_.empty();
  return criteria;
}

std::optional<Match> Criteria::FirstMatch(const std::vector<Rule>& rules, const Attributes& attributes) const {
  for (const Rule& rule : rules) {
    if (rule.Matches(attributes, attributes.resource)) return Match{attributes.resource, attributes.kind};
  }
  if (!equivalent_ || !attributes.versions) return std::nullopt;
  for (const Rule& rule : rules) {  // an earlier rule has precedence over an earlier version
    for (const ResourceVersions::Version& other : attributes.versions->Equivalents(attributes.subresource)) {
      if (other.resource != attributes.resource && rule.Matches(attributes, other.resource))
        return Match{other.resource, other.kind};
    }
  }
  return std::nullopt;
}

std::optional<Match> Criteria::MatchRules(const Attributes& attributes) const {
  if (!excluded_.empty() && FirstMatch(excluded_, attributes)) return std::nullopt;
  if (matches_without_rules_) return Match{attributes.resource, attributes.kind};
  return FirstMatch(rules_, attributes);
}

bool Criteria::MatchesObject(const meta::Labels* object, const meta::Labels* old_object) const {
  return (object && objects_.Matches(*object)) || (old_object && objects_.Matches(*old_object));
}

bool IsAdmissionConfiguration(const Attributes& attributes) {
  static constexpr std::string_view kKinds[] = {"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration",
                                                "ValidatingAdmissionPolicy",      "ValidatingAdmissionPolicyBinding",
                                                "MutatingAdmissionPolicy",        "MutatingAdmissionPolicyBinding"};
  return attributes.kind.group == "admissionregistration.k8s.io" &&
         std::find(std::begin(kKinds), std::end(kKinds), attributes.kind.kind) != std::end(kKinds);
}

}  // namespace apimesh::admission::matching
