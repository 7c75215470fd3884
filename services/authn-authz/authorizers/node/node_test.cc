#include "services/authn-authz/authorizers/node/node.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/authn-authz/testing/questions.h"

namespace apimesh::authn_authz {
namespace {

using fake::Question;
using fake::Show;

struct NodeCase {
  const char* question;
  const char* want;
};
const NodeCase kNodeCases[] = {
    {"get secrets ns/pull", "allow"},
    {"list secrets ns/pull", "allow"},
    {"get secrets ns/other", "no opinion: no relationship found between node 'n1' and this object"},
    {"list secrets ns", "no opinion: No Object name found"},
    {"update secrets ns/pull", "no opinion: can only read resources of this type"},
    {"get configmaps ns/cm", "allow"},
    {"get persistentvolumeclaims ns/claim", "allow"},
    {"patch persistentvolumeclaims/status ns/claim", "allow"},
    {"get persistentvolumes /pv", "allow"},
    {"get secrets ns/pv-secret", "allow"},
    {"get serviceaccounts ns/sa", "allow"},
    {"create serviceaccounts/token ns/sa", "allow"},
    {"create serviceaccounts/token ns/sa2", "no opinion: no relationship found between node 'n1' and this object"},
    {"create serviceaccounts ns/sa", "no opinion: can only create token subresource of serviceaccount"},
    {"get nodes /n1", "allow"},
    {"get nodes /n2", "no opinion: node 'n1' cannot read 'n2', only its own Node object"},
    {"list nodes", "no opinion: node 'n1' cannot read all nodes, only its own Node object"},
    {"delete nodes /n1", "no opinion"},
    {"patch nodes/status /n1", "allow"},
    {"get pods ns/p1", "allow"},
    {"get pods ns/p2", "no opinion: no relationship found between node 'n1' and this object"},
    {"list pods", "no opinion: can only list/watch pods with spec.nodeName field selector"},
    {"create pods/eviction ns/p2", "allow"},
    {"get leases.coordination.k8s.io kube-node-lease/n1", "allow"},
    {"get leases.coordination.k8s.io kube-node-lease/n2",
     "no opinion: can only access node lease with the same name as the requesting node"},
    {"get leases.coordination.k8s.io ns/n1",
     "no opinion: can only access leases in the \"kube-node-lease\" system namespace"},
    {"get csinodes.storage.k8s.io /n1", "allow"},
    {"get volumeattachments.storage.k8s.io /va", "allow"},
    {"create events ns", "allow"},
    {"list services", "allow"},
    {"list deployments.apps", "no opinion"},
    {"list resourceslices.resource.k8s.io",
     "no opinion: can only list/watch/deletecollection resourceslices with nodeName field selector"},
};
class NodeAuthorizerTable : public ::testing::TestWithParam<NodeCase> {
 protected:
  NodeAuthorizerTable() {
    const auto object = [](const char* text) { return boost::json::parse(text).as_object(); };
    graph_->SetPod(
        object(R"({"metadata":{"namespace":"ns","name":"p1"},"spec":{"nodeName":"n1","serviceAccountName":"sa",
      "imagePullSecrets":[{"name":"pull"}],"containers":[{"envFrom":[{"configMapRef":{"name":"cm"}}]}],
      "volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"claim"}}]}})"));
    graph_->SetPod(
        object(R"({"metadata":{"namespace":"ns","name":"p2"},"spec":{"nodeName":"n2","serviceAccountName":"sa2",
      "imagePullSecrets":[{"name":"other"}]}})"));
    graph_->SetPersistentVolume(
        object(R"({"metadata":{"name":"pv"},"spec":{"claimRef":{"namespace":"ns","name":"claim"},
      "csi":{"nodeStageSecretRef":{"namespace":"ns","name":"pv-secret"}}}})"));
    graph_->SetObjectOfNode(GraphKind::kVolumeAttachment,
                            object(R"({"metadata":{"name":"va"},"spec":{"nodeName":"n1"}})"));
  }
  std::shared_ptr<NodeGraph> graph_ = std::make_shared<NodeGraph>();
};
TEST_P(NodeAuthorizerTable, Decides) {
  const auto authorizer = NewNodeAuthorizer(graph_);
  EXPECT_EQ(Show(*authorizer->DecideNow(Question("system:node:n1", {"system:nodes"}, GetParam().question))),
            GetParam().want);
  EXPECT_EQ(Show(*authorizer->DecideNow(Question("system:node:n1", {}, GetParam().question))), "no opinion");
}
INSTANTIATE_TEST_SUITE_P(Table, NodeAuthorizerTable, ::testing::ValuesIn(kNodeCases));

TEST_F(NodeAuthorizerTable, FollowsFeatureGates) {
  graph_->SetObjectOfNode(
      GraphKind::kPodCertificateRequest,
      boost::json::parse(R"({"metadata":{"namespace":"ns","name":"c"},"spec":{"nodeName":"n1"}})").as_object());
  const auto decide = [&](const char* gates, std::string_view question, bool selects = false) {
    const auto authorizer = NewNodeAuthorizer(graph_, features::FeatureGates(std::vector<std::string>{gates}));
    Attributes attributes = Question("system:node:n1", {"system:nodes"}, question);
    if (selects) attributes.field_requirements = {{"spec.nodeName", "=", {"n1"}}};
    return Show(*authorizer->DecideNow(attributes));
  };
  constexpr const char* kOff = "KubeletServiceAccountTokenForCredentialProviders=false";
  constexpr const char* kOn = "PodCertificateRequest=true";
  const std::string requests = "podcertificaterequests.certificates.k8s.io";
  EXPECT_EQ(decide(kOff, "get serviceaccounts ns/sa"), "no opinion: not allowed to get service accounts");
  EXPECT_EQ(decide(kOff, "create serviceaccounts/token ns/sa"), "allow");
  EXPECT_EQ(decide(kOff, "get " + requests + " ns/c"), "no opinion");
  EXPECT_EQ(decide(kOn, "get serviceaccounts ns/sa"), "allow");
  EXPECT_EQ(decide(kOn, "create " + requests + " ns"), "allow");
  EXPECT_EQ(decide(kOn, "get " + requests + " ns/c"), "allow");
  EXPECT_EQ(decide(kOn, "get " + requests + " ns/d"),
            "no opinion: no relationship found between node 'n1' and this object");
  EXPECT_EQ(decide(kOn, "list " + requests, true), "allow");
  EXPECT_EQ(decide(kOn, "list " + requests),
            "no opinion: can only list/watch podcertificaterequests with nodeName field selector");
  EXPECT_EQ(decide(kOn, "update podcertificaterequests/status.certificates.k8s.io ns/c").substr(0, 10), "no opinion");
  EXPECT_EQ(decide(kOn, "delete " + requests + " ns/c"), "no opinion: nodes may not delete podcertificaterequests");
}

TEST_F(NodeAuthorizerTable, FollowsChangesAndSelectors) {
  const auto authorizer = NewNodeAuthorizer(graph_);
  Attributes list = Question("system:node:n1", {"system:nodes"}, "list pods");
  list.field_requirements = {{"spec.nodeName", "=", {"n1"}}};
  EXPECT_EQ(Show(*authorizer->DecideNow(list)), "allow");
  graph_->Remove(GraphKind::kPod, "ns", "p1");
  EXPECT_THAT(Show(*authorizer->DecideNow(Question("system:node:n1", {"system:nodes"}, "get secrets ns/pull"))),
              ::testing::StartsWith("no opinion"));
  EXPECT_THAT(Show(*authorizer->DecideNow(Question("system:node:n1", {"system:nodes"}, "get secrets ns/pv-secret"))),
              ::testing::StartsWith("no opinion"));
}

}  // namespace
}  // namespace apimesh::authn_authz
