#include "services/authn-authz/authorizers/node/node.h"

#include "lib/meta/request/node_identity.h"
#include "services/authn-authz/authorizers/node/node_rules.h"

namespace apimesh::authn_authz {
namespace {

using meta::Verb;

bool OneOf(Verb verb, meta::VerbSet verbs) { return verbs.contains(verb); }

bool SelectsNode(const Attributes& attributes, std::string_view field, const std::string& node) {
  for (const SelectorRequirement& requirement : attributes.field_requirements) {
    if (requirement.key == field && requirement.op == "=" && requirement.values.size() == 1 &&
        requirement.values.front() == node) {
      return true;
    }
  }
  return false;
}

class NodeAuthorizer final : public Authorizer {
 public:
  NodeAuthorizer(std::shared_ptr<const NodeGraph> graph, const features::FeatureGates& features)
      : graph_(std::move(graph)),
        pod_certificates_(features.Enabled(features::kPodCertificateRequest)),
        reads_service_accounts_(pod_certificates_ ||
                                features.Enabled(features::kKubeletServiceAccountTokenForCredentialProviders)) {}

  std::optional<Decision> DecideNow(const Attributes& attributes) override {
    const std::optional<std::string> node = meta::NodeIdentity(attributes.user);
    if (!node) return Decision::NoOpinion();
    if (node->empty()) return Decision::NoOpinion(fmt::format("unknown node for user \"{}\"", attributes.user.name));
    return Decide(*node, attributes);
  }

  void AddRules(const meta::UserInfo& user, const std::string&, RuleList& rules) override {
    if (!meta::NodeIdentity(user)) return;
    rules.incomplete = true;
    rules.errors.push_back("node authorizer does not support user rule resolution");
  }

 private:
  Decision Decide(const std::string& node, const Attributes& a) const {
    if (a.is_resource_request) {
      if (a.api_group.empty()) {
        if (a.resource == "secrets") return ReadOne(node, GraphKind::kSecret, a);
        if (a.resource == "configmaps") return ReadOne(node, GraphKind::kConfigMap, a);
        if (a.resource == "persistentvolumeclaims") {
          return a.subresource == "status" ? UpdateStatus(node, GraphKind::kPersistentVolumeClaim, a)
                                           : Get(node, GraphKind::kPersistentVolumeClaim, a);
        }
        if (a.resource == "persistentvolumes") return Get(node, GraphKind::kPersistentVolume, a);
        if (a.resource == "serviceaccounts") return ServiceAccount(node, a);
        if (a.resource == "nodes") return Node(node, a);
        if (a.resource == "pods") return Pod(node, a);
      } else if (a.api_group == "storage.k8s.io") {
        if (a.resource == "volumeattachments") return Get(node, GraphKind::kVolumeAttachment, a);
        if (a.resource == "csinodes") return CsiNode(node, a);
      } else if (a.api_group == "resource.k8s.io") {
        if (a.resource == "resourceclaims") return Get(node, GraphKind::kResourceClaim, a);
        if (a.resource == "resourceslices") return ResourceSlice(node, a);
      } else if (a.api_group == "coordination.k8s.io" && a.resource == "leases") {
        return Lease(node, a);
      } else if (a.api_group == "certificates.k8s.io" && a.resource == "podcertificaterequests") {
        return PodCertificateRequest(node, a);
      }
    }
    for (const PolicyRule& rule : NodeRules()) {
      if (RuleAllows(rule, a)) return Decision::Allow();
    }
    return Decision::NoOpinion();
  }

  Decision Related(const std::string& node, GraphKind kind, const Attributes& a) const {
    if (a.name.empty()) return Decision::NoOpinion("No Object name found");
    return Linked(node, kind, a);
  }

  Decision Linked(const std::string& node, GraphKind kind, const Attributes& a) const {
    Decision decision =
        graph_->Reaches(kind, a.ns, a.name, node)
            ? Decision::Allow()
            : Decision::NoOpinion(fmt::format("no relationship found between node '{}' and this object", node));
    // The graph changes with every pod. Its answers are not cached, so changes need no invalidation.
    decision.reuse = Duration::zero();
    return decision;
  }

  Decision UpdateStatus(const std::string& node, GraphKind kind, const Attributes& a) const {
    if (!OneOf(a.verb, {Verb::kUpdate, Verb::kPatch}))
      return Decision::NoOpinion("can only get/update/patch this type");
    return Related(node, kind, a);
  }

  Decision Get(const std::string& node, GraphKind kind, const Attributes& a) const {
    if (a.verb != Verb::kGet) return Decision::NoOpinion("can only get individual resources of this type");
    if (!a.subresource.empty()) return Decision::NoOpinion("cannot get subresource");
    return Related(node, kind, a);
  }

  Decision ReadOne(const std::string& node, GraphKind kind, const Attributes& a) const {
    if (!a.IsReadOnly()) return Decision::NoOpinion("can only read resources of this type");
    if (!a.subresource.empty()) return Decision::NoOpinion("cannot read subresource");
    if (a.ns.empty()) return Decision::NoOpinion("can only read namespaced object of this type");
    return Related(node, kind, a);
  }

  Decision ServiceAccount(const std::string& node, const Attributes& a) const {
    if (a.verb == Verb::kGet && a.subresource.empty()) {
      return reads_service_accounts_ ? ReadOne(node, GraphKind::kServiceAccount, a)
                                     : Decision::NoOpinion("not allowed to get service accounts");
    }
    if (a.verb != Verb::kCreate || a.name.empty()) {
      return Decision::NoOpinion("can only create tokens for individual service accounts");
    }
    if (a.subresource != "token") return Decision::NoOpinion("can only create token subresource of serviceaccount");
    return Linked(node, GraphKind::kServiceAccount, a);
  }

  static Decision Lease(const std::string& node, const Attributes& a) {
    if (!OneOf(a.verb, {Verb::kGet, Verb::kCreate, Verb::kUpdate, Verb::kPatch, Verb::kDelete})) {
      return Decision::NoOpinion("can only get, create, update, patch, or delete a node lease");
    }
    if (a.ns != "kube-node-lease") {
      return Decision::NoOpinion("can only access leases in the \"kube-node-lease\" system namespace");
    }
    // The name is unknown on create; the admission plugin NodeRestriction checks it.
    if (a.verb != Verb::kCreate && a.name != node) {
      return Decision::NoOpinion("can only access node lease with the same name as the requesting node");
    }
    return Decision::Allow();
  }

  static Decision CsiNode(const std::string& node, const Attributes& a) {
    if (!OneOf(a.verb, {Verb::kGet, Verb::kCreate, Verb::kUpdate, Verb::kPatch, Verb::kDelete})) {
      return Decision::NoOpinion("can only get, create, update, patch, or delete a CSINode");
    }
    if (!a.subresource.empty()) return Decision::NoOpinion("cannot authorize CSINode subresources");
    if (a.verb != Verb::kCreate && a.name != node) {
      return Decision::NoOpinion("can only access CSINode with the same name as the requesting node");
    }
    return Decision::Allow();
  }

  Decision ResourceSlice(const std::string& node, const Attributes& a) const {
    if (!a.subresource.empty()) return Decision::NoOpinion("cannot authorize ResourceSlice subresources");
    if (a.verb == Verb::kCreate) return Decision::Allow();
    if (OneOf(a.verb, {Verb::kGet, Verb::kUpdate, Verb::kPatch, Verb::kDelete}))
      return Related(node, GraphKind::kResourceSlice, a);
    if (OneOf(a.verb, {Verb::kWatch, Verb::kList, Verb::kDeleteCollection})) {
      if (SelectsNode(a, "spec.nodeName", node)) return Decision::Allow();
      return Decision::NoOpinion("can only list/watch/deletecollection resourceslices with nodeName field selector");
    }
    return Decision::NoOpinion(
        "only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, "
        "deletecollection");
  }

  Decision PodCertificateRequest(const std::string& node, const Attributes& a) const {
    if (!pod_certificates_) return Decision::NoOpinion();
    if (!a.subresource.empty()) {
      return Decision::NoOpinion("nodes may not access the status subresource of PodCertificateRequests");
    }
    if (a.verb == Verb::kCreate) return Decision::Allow();  // the admission plugin NodeRestriction checks the object
    if (a.verb == Verb::kGet) return Related(node, GraphKind::kPodCertificateRequest, a);
    if (OneOf(a.verb, {Verb::kList, Verb::kWatch})) {
      if (SelectsNode(a, "spec.nodeName", node)) return Decision::Allow();
      return Decision::NoOpinion("can only list/watch podcertificaterequests with nodeName field selector");
    }
    return Decision::NoOpinion(fmt::format("nodes may not {} podcertificaterequests", a.verb.Text()));
  }

  static Decision Node(const std::string& node, const Attributes& a) {
    if (a.subresource == "status" && OneOf(a.verb, {Verb::kUpdate, Verb::kPatch})) return Decision::Allow();
    if (!a.subresource.empty()) return Decision::NoOpinion();
    if (OneOf(a.verb, {Verb::kCreate, Verb::kUpdate, Verb::kPatch})) return Decision::Allow();
    if (!a.IsReadOnly()) return Decision::NoOpinion();
    if (a.name == node) return Decision::Allow();
    if (a.name.empty()) {
      return Decision::NoOpinion(fmt::format("node '{}' cannot read all nodes, only its own Node object", node));
    }
    return Decision::NoOpinion(fmt::format("node '{}' cannot read '{}', only its own Node object", node, a.name));
  }

  Decision Pod(const std::string& node, const Attributes& a) const {
    if (a.subresource == "status" && OneOf(a.verb, {Verb::kUpdate, Verb::kPatch})) return Decision::Allow();
    if (a.subresource == "eviction" && a.verb == Verb::kCreate) return Decision::Allow();
    if (!a.subresource.empty()) return Decision::NoOpinion();
    if (a.verb == Verb::kGet) return Get(node, GraphKind::kPod, a);
    if (OneOf(a.verb, {Verb::kList, Verb::kWatch})) {
      if (SelectsNode(a, "spec.nodeName", node)) return Decision::Allow();
      if (!a.name.empty()) return Related(node, GraphKind::kPod, a);
      return Decision::NoOpinion("can only list/watch pods with spec.nodeName field selector");
    }
    return OneOf(a.verb, {Verb::kCreate, Verb::kDelete}) ? Decision::Allow() : Decision::NoOpinion();
  }

  const std::shared_ptr<const NodeGraph> graph_;
  const bool pod_certificates_, reads_service_accounts_;
};

}  // namespace

std::unique_ptr<Authorizer> NewNodeAuthorizer(std::shared_ptr<const NodeGraph> graph,
                                              const features::FeatureGates& features) {
  return std::make_unique<NodeAuthorizer>(std::move(graph), features);
}

std::unique_ptr<Authorizer> MakeNode(const AuthorizerInputs& inputs) {
  return NewNodeAuthorizer(inputs.state.graph, inputs.options.features);
}

}  // namespace apimesh::authn_authz
