#include "services/authn-authz/authorizers/node/node_rules.h"

namespace apimesh::authn_authz {
namespace {

PolicyRule Rule(std::vector<std::string> verbs, std::vector<std::string> groups, std::vector<std::string> resources) {
  return {std::move(verbs), std::move(groups), std::move(resources), {}, {}};
}

}  // namespace

const std::vector<PolicyRule>& NodeRules() {
  static const std::vector<PolicyRule> rules{
      Rule({"create"}, {"authentication.k8s.io"}, {"tokenreviews"}),
      Rule({"create"}, {"authorization.k8s.io"}, {"subjectaccessreviews", "localsubjectaccessreviews"}),
      Rule({"get", "list", "watch"}, {""}, {"services"}),
      Rule({"create", "update", "patch"}, {"", "events.k8s.io"}, {"events"}),
      Rule({"get"}, {""}, {"endpoints"}),
      Rule({"create", "get", "list", "watch"}, {"certificates.k8s.io"}, {"certificatesigningrequests"}),
      Rule({"get", "watch", "list"}, {"storage.k8s.io"}, {"csidrivers"}),
      Rule({"get", "list", "watch"}, {"node.k8s.io"}, {"runtimeclasses"}),
  };
  return rules;
}

}  // namespace apimesh::authn_authz
