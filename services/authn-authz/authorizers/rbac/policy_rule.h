#pragma once

#include <boost/json/object.hpp>

#include "services/authn-authz/authorizers/authorizer.h"

namespace apimesh::authn_authz {

/// One rule of a Role or ClusterRole.
struct PolicyRule {
  std::vector<std::string> verbs, api_groups, resources, resource_names, non_resource_urls;
  bool operator==(const PolicyRule&) const = default;
};

bool RuleAllows(const PolicyRule& rule, const Attributes& attributes);
/// Parses `rules` of a Role or ClusterRole. Fields of the wrong type are treated as absent, so they grant nothing.
std::vector<PolicyRule> ParseRules(const boost::json::object& role);

}  // namespace apimesh::authn_authz
