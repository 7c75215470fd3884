#include "services/authn-authz/authorizers/rbac/rule_index.h"

namespace apimesh::authn_authz {
namespace {

// A hit is checked against the rule itself, so a collision costs time and never grants anything.
std::uint64_t Mix(std::uint64_t seed, std::string_view text) {
  return (seed ^ std::hash<std::string_view>()(text)) * 0x9e3779b97f4a7c15ull + (seed >> 31);
}

std::uint64_t Key(std::string_view verb, std::string_view group, std::string_view resource, std::string_view name) {
  return Mix(Mix(Mix(Mix(0, verb), group), resource), name);
}

}  // namespace

void RuleIndex::Add(std::size_t owner, const PolicyRule& rule) {
  if (!rule.non_resource_urls.empty()) urls_.push_back({owner, &rule});
  static const std::vector<std::string> any_name{""};
  const auto& names = rule.resource_names.empty() ? any_name : rule.resource_names;
  for (const std::string& verb : rule.verbs) {
    for (const std::string& group : rule.api_groups) {
      for (const std::string& resource : rule.resources) {
        for (const std::string& name : names) {
          std::vector<Entry>& entries = resources_[Key(verb, group, resource, name)];
          // The first owner answers for all others with the same key.
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
  std::string full = attributes.resource, any;
  if (!attributes.subresource.empty()) {
    full += "/" + attributes.subresource;
    any = "*/" + attributes.subresource;
  }
  std::optional<std::size_t> best;
  for (const std::string_view verb : {std::string_view(attributes.verb), std::string_view("*")}) {
    for (const std::string_view group : {std::string_view(attributes.api_group), std::string_view("*")}) {
      for (const std::string_view resource : {std::string_view(full), std::string_view(any), std::string_view("*")}) {
        if (resource.empty()) continue;
        for (const std::string_view name : {std::string_view(), std::string_view(attributes.name)}) {
          const auto it = resources_.find(Key(verb, group, resource, name));
          if (it != resources_.end()) {
            for (const Entry& entry : it->second) {
              if (best && entry.owner >= *best) break;
              if (RuleAllows(*entry.rule, attributes)) best = entry.owner;
            }
          }
          if (attributes.name.empty()) break;
        }
      }
    }
  }
  return best;
}

}  // namespace apimesh::authn_authz
