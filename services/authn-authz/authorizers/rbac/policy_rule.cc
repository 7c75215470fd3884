#include "services/authn-authz/authorizers/rbac/policy_rule.h"

#include "lib/meta/object.h"

namespace apimesh::authn_authz {
namespace {

bool HasOrStar(const std::vector<std::string>& values, std::string_view wanted) {
  for (const std::string& value : values) {
    if (value == wanted || value == "*") return true;
  }
  return false;
}

bool ResourceMatches(const std::vector<std::string>& resources, std::string_view resource,
                     std::string_view subresource) {
  for (const std::string_view rule : resources) {
    if (rule == "*") return true;
    if (subresource.empty()) {
      if (rule == resource) return true;
      continue;
    }
    if (rule.size() == resource.size() + 1 + subresource.size() && rule.starts_with(resource) &&
        rule[resource.size()] == '/' && rule.ends_with(subresource)) {
      return true;
    }
    if (rule.size() == subresource.size() + 2 && rule.starts_with("*/") && rule.ends_with(subresource)) return true;
  }
  return false;
}

bool UrlMatches(const std::vector<std::string>& urls, std::string_view path) {
  for (std::string_view url : urls) {
    if (url == "*" || url == path) return true;
    if (!url.ends_with('*')) continue;
    while (url.ends_with('*')) url.remove_suffix(1);
    if (path.starts_with(url)) return true;
  }
  return false;
}

std::vector<std::string> Strings(const boost::json::object& rule, std::string_view field) {
  std::vector<std::string> out;
  const boost::json::value* value = meta::FindField(rule, field);
  if (!value || !value->is_array()) return out;
  for (const boost::json::value& item : value->get_array()) {
    if (item.is_string()) out.emplace_back(item.get_string());
  }
  return out;
}

}  // namespace

bool RuleAllows(const PolicyRule& rule, const Attributes& attributes) {
  if (!HasOrStar(rule.verbs, attributes.verb.Text())) return false;
  if (!attributes.is_resource_request) return UrlMatches(rule.non_resource_urls, attributes.path);
  if (!HasOrStar(rule.api_groups, attributes.api_group)) return false;
  if (!ResourceMatches(rule.resources, attributes.resource, attributes.subresource)) return false;
  return rule.resource_names.empty() || std::find(rule.resource_names.begin(), rule.resource_names.end(),
                                                  attributes.name) != rule.resource_names.end();
}

std::vector<PolicyRule> ParseRules(const boost::json::object& role) {
  std::vector<PolicyRule> rules;
  const boost::json::value* value = meta::FindField(role, "rules");
  if (!value || !value->is_array()) return rules;
  for (const boost::json::value& item : value->get_array()) {
    if (!item.is_object()) continue;
    const boost::json::object& rule = item.get_object();
    rules.push_back({Strings(rule, "verbs"), Strings(rule, "apiGroups"), Strings(rule, "resources"),
                     Strings(rule, "resourceNames"), Strings(rule, "nonResourceURLs")});
  }
  return rules;
}

}  // namespace apimesh::authn_authz
