#include "services/core-api/groups/rbac/escalation/policy_rules.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "lib/meta/errors/field_error.h"
#include "services/core-api/validation/walk.h"

namespace apimesh::core_api {
namespace {

using Texts = std::vector<std::string>;

Texts TextsAt(const meta::json::object& rule, std::string_view field) {
  Texts texts;
  const meta::json::value* list = meta::FindField(rule, field);
  if (!list || !list->is_array()) return texts;
  for (const meta::json::value& text : list->get_array()) {
    if (text.is_string()) texts.emplace_back(std::string_view(text.get_string()));
  }
  return texts;
}

/// `set` is sorted.
bool Has(const Texts& set, std::string_view text) {
  return std::binary_search(set.begin(), set.end(), text, std::less<>());
}

bool HasAll(const Texts& set, const Texts& texts) {
  return Has(set, "*") ||
         std::all_of(texts.begin(), texts.end(), [&set](const std::string& text) { return Has(set, text); });
}

bool HasResources(const PolicyRule& rule) {
  return !rule.groups.empty() && !rule.resources.empty() && !rule.verbs.empty();
}
bool HasUrls(const PolicyRule& rule) { return !rule.urls.empty() && !rule.verbs.empty(); }

/// Returns the number of combinations of a rule, or a number above `limit` if there are more.
std::size_t CountPieces(const PolicyRule& rule, std::size_t limit) {
  const std::size_t factors[] = {rule.groups.size(), rule.resources.size(), rule.verbs.size(),
                                 std::max<std::size_t>(rule.names.size(), 1)};
  std::size_t pieces = HasResources(rule) ? 1 : 0;
  for (const std::size_t factor : factors) pieces = std::min(pieces * std::min(factor, limit + 1), limit + 1);
  return pieces + std::min(rule.urls.size(), limit + 1) * std::min(rule.verbs.size(), limit + 1);
}

/// Returns the combinations of a rule, with one element per list.
std::vector<PolicyRule> BreakDown(const PolicyRule& rule) {
  std::vector<PolicyRule> pieces;
  for (const std::string& group : rule.groups) {
    for (const std::string& resource : rule.resources) {
      for (const std::string& verb : rule.verbs) {
        if (rule.names.empty()) pieces.push_back({{verb}, {group}, {resource}, {}, {}});
        for (const std::string& name : rule.names) pieces.push_back({{verb}, {group}, {resource}, {name}, {}});
      }
    }
  }
  for (const std::string& url : rule.urls) {
    for (const std::string& verb : rule.verbs) pieces.push_back({{verb}, {}, {}, {}, {url}});
  }
  return pieces;
}

bool CoversResource(const Texts& held, const std::string& resource) {
  if (Has(held, "*") || Has(held, resource)) return true;
  const std::size_t slash = resource.find('/');
  return slash != std::string::npos && Has(held, "*" + resource.substr(slash));
}

bool CoversUrl(const Texts& held, const std::string& url) {
  return std::any_of(held.begin(), held.end(), [&url](const std::string& one) {
    if (one == url) return true;
    return one.ends_with('*') && url.starts_with(one.substr(0, one.find_last_not_of('*') + 1));
  });
}

bool Covers(const PolicyRule& held, const PolicyRule& piece) {
  if (!Has(held.verbs, "*") && !Has(held.verbs, piece.verbs[0])) return false;
  if (!piece.urls.empty()) return held.names.empty() && CoversUrl(held.urls, piece.urls[0]);
  if (!Has(held.groups, "*") && !Has(held.groups, piece.groups[0])) return false;
  if (!CoversResource(held.resources, piece.resources[0])) return false;
  return held.names.empty() || (!piece.names.empty() && Has(held.names, piece.names[0]));
}

/// Whether a single held rule covers `rule`. The time is proportional to the length of the lists, not to their product.
bool CoversAll(const PolicyRule& held, const PolicyRule& rule) {
  if (!HasAll(held.verbs, rule.verbs)) return false;
  if (HasUrls(rule)) {
    if (!held.names.empty()) return false;
    if (!std::all_of(rule.urls.begin(), rule.urls.end(),
                     [&held](const std::string& url) { return CoversUrl(held.urls, url); }))
      return false;
  }
  if (!HasResources(rule)) return true;
  const auto covered = [&held](const std::string& resource) { return CoversResource(held.resources, resource); };
  if (!HasAll(held.groups, rule.groups) || !std::all_of(rule.resources.begin(), rule.resources.end(), covered))
    return false;
  return held.names.empty() ||
         (!rule.names.empty() && std::all_of(rule.names.begin(), rule.names.end(),
                                             [&held](const std::string& name) { return Has(held.names, name); }));
}

std::string Line(const PolicyRule& rule) {
  Texts parts;
  const auto add = [&parts](std::string_view title, const Texts& texts) {
    if (!texts.empty()) parts.push_back(fmt::format("{}:{}", title, QuotedList(texts)));
  };
  add("APIGroups", rule.groups);
  add("Resources", rule.resources);
  add("NonResourceURLs", rule.urls);
  add("ResourceNames", rule.names);
  add("Verbs", rule.verbs);
  return fmt::format("{{{}}}", fmt::join(parts, ", "));
}

}  // namespace

std::string QuotedList(const Texts& texts) {
  Texts quoted;
  for (const std::string& text : texts) quoted.push_back(meta::Quoted(text));
  return fmt::format("[{}]", fmt::join(quoted, " "));
}

std::vector<PolicyRule> RulesOf(const meta::Object& role) {
  std::vector<PolicyRule> rules;
  for (const meta::json::object& rule : Objects(meta::FindField(role.Root(), "rules"))) {
    rules.push_back({TextsAt(rule, "verbs"), TextsAt(rule, "apiGroups"), TextsAt(rule, "resources"),
                     TextsAt(rule, "resourceNames"), TextsAt(rule, "nonResourceURLs")});
  }
  return rules;
}

std::optional<std::vector<PolicyRule>> Uncovered(std::vector<PolicyRule> held, const std::vector<PolicyRule>& wanted) {
  for (PolicyRule& rule : held) {
    for (Texts* texts : {&rule.verbs, &rule.groups, &rule.resources, &rule.names, &rule.urls})
      std::sort(texts->begin(), texts->end());
  }
  std::vector<PolicyRule> missing;
  std::size_t left = kMaxPieces;
  for (const PolicyRule& rule : wanted) {
    if (std::any_of(held.begin(), held.end(), [&rule](const PolicyRule& one) { return CoversAll(one, rule); }))
      continue;
    const std::size_t pieces = CountPieces(rule, left);
    if (pieces > left) return std::nullopt;
    left -= pieces;
    for (PolicyRule& piece : BreakDown(rule)) {
      const bool covered =
          std::any_of(held.begin(), held.end(), [&piece](const PolicyRule& one) { return Covers(one, piece); });
      if (!covered) missing.push_back(std::move(piece));
    }
  }
  return missing;
}

std::vector<std::string> Describe(const std::vector<PolicyRule>& rules) {
  std::map<std::tuple<Texts, Texts, Texts>, PolicyRule> together;
  std::set<std::string> lines;
  for (const PolicyRule& rule : rules) {
    if (!rule.urls.empty()) {
      lines.insert(Line(rule));
      continue;
    }
    const auto [place, fresh] = together.try_emplace({rule.groups, rule.resources, rule.names}, rule);
    if (!fresh) place->second.verbs.insert(place->second.verbs.end(), rule.verbs.begin(), rule.verbs.end());
  }
  for (const auto& [key, rule] : together) lines.insert(Line(rule));
  return {lines.begin(), lines.end()};
}

}  // namespace apimesh::core_api
