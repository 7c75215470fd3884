#pragma once

#include "lib/meta/errors/api_error.h"
#include "services/authn-authz/authorizers/authorizer.h"

namespace apimesh::authn_authz {

/// One line of a policy file.
struct AbacPolicy {
  std::string user, group;
  bool readonly = false;
  std::string api_group, resource, ns, non_resource_path;
};
/// Parses a policy file with one JSON object per line: kind Policy of abac.authorization.kubernetes.io/v1beta1, or the
/// old format without a kind. Empty lines and lines that begin with # are skipped. `path` is used in error texts.
meta::Result<std::vector<AbacPolicy>> ParseAbacFile(std::string_view text, std::string_view path);
std::unique_ptr<Authorizer> NewAbac(std::vector<AbacPolicy> policies);

}  // namespace apimesh::authn_authz
