#include "services/authn-authz/authorizers/rbac/rule_index.h"

namespace apimesh::authn_authz {
namespace {

// A match is verified against the rule itself, so a hash collision costs time but never grants anything.
std::uint64_t Hash(std::string_view text) { return std::hash<std::string_view>()(text); }

std::uint64_t Key(std::uint64_t verb, std::uint64_t group, std::uint64_t resource, std::uint64_t name) {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15ull;
  std::uint64_t key = verb;
  for (const std::uint64_t part : {group, resource, name}) key = (key ^ (key >> 29) ^ part) * kOdd + 1;
  return key;
}

constexpr std::size_t kMostCombinations = 1000;  // of a rule; those of the built-in roles have fewer

}  // namespace

void RuleIndex::Add(std::size_t owner, const PolicyRule& rule) {
  if (!rule.non_resource_urls.empty()) urls_.push_back({owner, &rule});
  static const std::vector<std::string> any_name{""};
  const auto& names = rule.resource_names.empty() ? any_name : rule.resource_names;
  if (rule.resources.empty()) return;
  std::size_t combinations = 1;
  for (const auto* list : {&rule.verbs, &rule.api_groups, &rule.resources, &names}) {
    combinations *= list->size();
    if (combinations <= kMostCombinations) continue;
    wide_.push_back({owner, &rule});
    return;
  }
  for (const std::string& verb : rule.verbs) {
    for (const std::string& group : rule.api_groups) {
      for (const std::string& resource : rule.resources) {
        for (const std::string& name : names) {
          std::vector<Entry>& entries = resources_[Key(Hash(verb), Hash(group), Hash(resource), Hash(name))];
          // A rule is stored only once per key.
          if (entries.empty() || entries.back().rule != &rule) entries.push_back({owner, &rule});
        }
      }
    }
  }
}

std::optional<std::size_t> RuleIndex::Find(const Attributes& attributes) const {
  if (!attributes.is_resource_request) {
    for (const Entry& entry : urls_) {
      if (RuleAllows(*entry.rule, attributes)) return entry.owner;
    }
    return std::nullopt;
  }
  // Each word is hashed once; keys with wildcards are combined from these hashes.
  static const std::uint64_t star = Hash("*"), no_name = Hash("");
  const std::uint64_t verbs[] = {Hash(attributes.verb.Text()), star};
  const std::uint64_t groups[] = {Hash(attributes.api_group), star};
  const std::uint64_t names[] = {no_name, Hash(attributes.name)};
  std::uint64_t resources[3] = {0, star, 0};
  std::size_t resource_count = 2;
  if (attributes.subresource.empty()) {
    resources[0] = Hash(attributes.resource);
  } else {
    resources[0] = Hash(attributes.resource + "/" + attributes.subresource);
    resources[resource_count++] = Hash("*/" + attributes.subresource);
  }
  const std::size_t name_count = attributes.name.empty() ? 1 : 2;
  std::optional<std::size_t> best;
  for (const std::uint64_t verb : verbs) {
    for (const std::uint64_t group : groups) {
      for (std::size_t r = 0; r < resource_count; ++r) {
        for (std::size_t n = 0; n < name_count; ++n) {
          const auto it = resources_.find(Key(verb, group, resources[r], names[n]));
          if (it == resources_.end()) continue;
          for (const Entry& entry : it->second) {
            if (best && entry.owner >= *best) break;
            if (RuleAllows(*entry.rule, attributes)) best = entry.owner;
          }
        }
      }
    }
  }
  for (const Entry& entry : wide_) {
    if (best && entry.owner >= *best) break;
    if (RuleAllows(*entry.rule, attributes)) best = entry.owner;
  }
  return best;
}

}  // namespace apimesh::authn_authz
