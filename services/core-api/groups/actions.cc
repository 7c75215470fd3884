#include "services/core-api/groups/actions.h"

#include <algorithm>

#include "services/core-api/groups/authentication/reviews.h"
#include "services/core-api/groups/authorization/access_reviews.h"
#include "services/core-api/groups/core/node/proxy.h"
#include "services/core-api/groups/core/pod/binding/binding.h"
#include "services/core-api/groups/core/pod/connect/connectors.h"
#include "services/core-api/groups/core/service/proxy.h"

namespace apimesh::core_api {
namespace {

struct ActionRow {
  const char* resource;  // as error texts name it, with the subresource
  registry::Action (*make)(const ActionInputs& inputs);
};
constexpr ActionRow kActions[] = {
    {"tokenreviews.authentication.k8s.io", [](const ActionInputs& in) { return TokenReviewAction(in.auth); }},
    {"selfsubjectreviews.authentication.k8s.io", [](const ActionInputs&) { return SelfSubjectReviewAction(); }},
    {"subjectaccessreviews.authorization.k8s.io", [](const ActionInputs& in) { return SubjectAccessReviewAction(in.auth); }},
    {"localsubjectaccessreviews.authorization.k8s.io", [](const ActionInputs& in) { return LocalSubjectAccessReviewAction(in.auth); }},
    {"selfsubjectaccessreviews.authorization.k8s.io", [](const ActionInputs& in) { return SelfSubjectAccessReviewAction(in.auth); }},
    {"selfsubjectrulesreviews.authorization.k8s.io", [](const ActionInputs& in) { return SelfSubjectRulesReviewAction(in.auth); }},
    {"bindings", [](const ActionInputs& in) { return BindingAction(in.pods); }},
    {"pods/binding", [](const ActionInputs& in) { return BindingAction(in.pods); }},
    {"pods/eviction", [](const ActionInputs& in) { return EvictionAction(in.pods, in.send); }},
    {"serviceaccounts/token",
     [](const ActionInputs& in) { return in.issuer ? TokenRequestAction(*in.issuer, in.read) : registry::Action(); }},
};

struct ConnectorRow {
  const char* resource;
  std::shared_ptr<endpoint::Connector> (*make)(const ActionInputs& inputs);
};
constexpr ConnectorRow kConnectors[] = {
    {"nodes/proxy", [](const ActionInputs& in) { return NodeProxyConnector(in.kubelets); }},
    {"pods/attach", [](const ActionInputs& in) { return AttachConnector(in.read, in.kubelets, in.auth); }},
    {"pods/exec", [](const ActionInputs& in) { return ExecConnector(in.read, in.kubelets, in.auth); }},
    {"pods/log", [](const ActionInputs& in) { return LogConnector(in.read, in.kubelets); }},
    {"pods/portforward", [](const ActionInputs& in) { return PortForwardConnector(in.read, in.kubelets, in.auth); }},
    {"pods/proxy", [](const ActionInputs& in) { return PodProxyConnector(in.read); }},
    {"services/proxy", [](const ActionInputs& in) { return ServiceProxyConnector(in.read); }},
};

registry::Action Make(const std::string& name, const ActionInputs& inputs) {
  for (const ActionRow& row : kActions) {
    if (row.resource == name) return row.make(inputs);
  }
  return {};
}

}  // namespace

void AddActions(std::vector<registry::Resource>& resources, const ActionInputs& inputs) {
  for (registry::Resource& resource : resources) {
    const std::string name = resource.GetGroupResource().ToString();
    resource.create = Make(name, inputs);
    for (registry::Subresource& subresource : resource.subresources) subresource.create = Make(name + "/" + subresource.name, inputs);
    // Without a key there are no tokens, and the path is not served.
    if (name == "serviceaccounts" && !inputs.issuer) {
      std::erase_if(resource.subresources, [](const registry::Subresource& one) { return one.name == "token"; });
    }
  }
}

Connectors MakeConnectors(const ActionInputs& inputs) {
  Connectors made;
  for (const ConnectorRow& row : kConnectors) made[row.resource] = row.make(inputs);
  return made;
}

}  // namespace apimesh::core_api
