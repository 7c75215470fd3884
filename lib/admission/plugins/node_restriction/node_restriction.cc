#include "lib/admission/plugins/node_restriction/node_restriction.h"

#include <fmt/format.h>

#include "lib/admission/plugins/node_restriction/certificate_rules.h"
#include "lib/admission/plugins/node_restriction/claim_rules.h"
#include "lib/admission/plugins/node_restriction/cluster_reader.h"
#include "lib/admission/plugins/node_restriction/node_rules.h"
#include "lib/admission/plugins/node_restriction/own_object_rules.h"
#include "lib/admission/plugins/node_restriction/pod_rules.h"
#include "lib/admission/plugins/node_restriction/refuse.h"
#include "lib/admission/plugins/node_restriction/token_rules.h"
#include "lib/meta/errors/field_error.h"
#include "lib/meta/request/node_identity.h"

namespace apimesh::admission {
namespace {

class NodeRestriction final : public Plugin {
 public:
  explicit NodeRestriction(const PluginInputs& inputs)
      : reader_(inputs.objects),
        auth_(inputs.auth),
        checks_audiences_(inputs.features.Enabled(features::kServiceAccountNodeAudienceRestriction)),
        checks_signing_requests_(!inputs.features.Enabled(features::kAllowInsecureKubeletCertificateSigningRequests)),
        pod_certificates_(inputs.features.Enabled(features::kPodCertificateRequest)) {}

  bool Handles(Phase phase, const Attributes& attributes) const override {
    return phase == Phase::kMutate && attributes.operation != Operation::kConnect;
  }

  Task<meta::Result<>> Mutate(meta::RequestContext ctx, Attributes& attributes) override {
    std::optional<std::string> node = meta::NodeIdentity(ctx.User());
    if (!node) co_return meta::Result<>();
    if (node->empty()) {
      co_return node_restriction::Refuse(attributes, "could not determine node from user {}",
                                         meta::Quoted(ctx.User().name));
    }
    co_return co_await Check(ctx, std::move(*node), attributes);
  }

 private:
  Task<meta::Result<>> Check(meta::RequestContext ctx, std::string node, const Attributes& attributes) const {
    const std::string &group = attributes.resource.group, &resource = attributes.resource.resource;
    if (group.empty()) {
      if (resource == "pods") co_return co_await node_restriction::CheckPod(ctx, reader_, std::move(node), attributes);
      if (resource == "nodes") co_return node_restriction::CheckNode(node, attributes);
      if (resource == "persistentvolumeclaims") co_return node_restriction::CheckClaim(node, attributes);
      if (resource == "serviceaccounts") {
        const node_restriction::TokenRules rules{reader_, auth_, checks_audiences_};
        co_return co_await node_restriction::CheckServiceAccount(ctx, rules, std::move(node), attributes);
      }
    } else if (group == "coordination.k8s.io" && resource == "leases") {
      co_return node_restriction::CheckLease(node, attributes);
    } else if (group == "storage.k8s.io" && resource == "csinodes") {
      co_return node_restriction::CheckCsiNode(node, attributes);
    } else if (group == "resource.k8s.io" && resource == "resourceslices") {
      co_return node_restriction::CheckResourceSlice(node, attributes);
    } else if (group == "certificates.k8s.io" && resource == "certificatesigningrequests") {
      if (checks_signing_requests_) co_return node_restriction::CheckSigningRequest(node, attributes);
    } else if (group == "certificates.k8s.io" && resource == "podcertificaterequests") {
      if (!pod_certificates_) co_return Forbidden(attributes, "PodCertificateRequest feature gate is disabled");
      co_return co_await node_restriction::CheckPodCertificateRequest(ctx, reader_, std::move(node), attributes);
    }
    co_return meta::Result<>();
  }

  const node_restriction::ClusterReader reader_;
  const service::AuthClientPtr auth_;
  const bool checks_audiences_, checks_signing_requests_, pod_certificates_;
};

}  // namespace

std::unique_ptr<Plugin> MakeNodeRestriction(const PluginInputs& inputs) {
  return std::make_unique<NodeRestriction>(inputs);
}

}  // namespace apimesh::admission
