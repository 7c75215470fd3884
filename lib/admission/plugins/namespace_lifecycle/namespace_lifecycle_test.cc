#include "lib/admission/plugins/namespace_lifecycle/namespace_lifecycle.h"

#include "lib/admission/testing_cluster.h"

namespace apimesh::admission {
namespace {

const meta::GroupResource kNamespaces{"", "namespaces"};
const char kConfigMap[] = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}})";
const char kNamespace[] = R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"default"}})";

/// A cluster with the namespaces "active" and "ending".
struct NamespaceLifecycleTest : ::testing::TestWithParam<PluginCase> {
  NamespaceLifecycleTest() {
    cluster.Put(kNamespaces, "active", R"({"metadata":{"name":"active"},"status":{"phase":"Active"}})");
    cluster.Put(kNamespaces, "ending", R"({"metadata":{"name":"ending"},"status":{"phase":"Terminating"}})");
  }
  TestCluster cluster;
};

TEST_P(NamespaceLifecycleTest, Decides) { Check(*MakeNamespaceLifecycle(cluster.Inputs()), GetParam()); }

Write InNamespace(const std::string& ns, Operation operation) {
  return {.operation = operation, .resource = "configmaps", .name = "a", .object = kConfigMap, .ns = ns};
}
Write OfNamespace(const std::string& name, Operation operation) {
  return {.operation = operation, .resource = "namespaces", .name = name, .object = kNamespace, .ns = name};
}

const PluginCase kCases[] = {
    {"CreateInAnActiveNamespace", InNamespace("active", Operation::kCreate), ""},
    {"UpdateInAnActiveNamespace", InNamespace("active", Operation::kUpdate), ""},
    {"CreateInATerminatingNamespace", InNamespace("ending", Operation::kCreate),
     R"(403 configmaps "a" is forbidden: unable to create new content in namespace ending because it is being )"
     "terminated"},
    {"UpdateInATerminatingNamespace", InNamespace("ending", Operation::kUpdate), ""},
    {"DeleteInATerminatingNamespace", InNamespace("ending", Operation::kDelete), ""},
    {"CreateInAMissingNamespace", InNamespace("none", Operation::kCreate), R"(404 namespaces "none" not found)"},
    {"UpdateInAMissingNamespace", InNamespace("none", Operation::kUpdate), R"(404 namespaces "none" not found)"},
    {"DeleteInAMissingNamespace", InNamespace("none", Operation::kDelete), ""},
    {"ClusterScope", InNamespace("", Operation::kCreate), ""},
    {"AccessReviewInAMissingNamespace",
     {.resource = "localsubjectaccessreviews.authorization.k8s.io", .object = kConfigMap, .ns = "none"},
     ""},
    {"CreateANamespace", OfNamespace("none", Operation::kCreate), ""},
    {"DeleteANamespace", OfNamespace("active", Operation::kDelete), ""},
    {"DeleteDefault", OfNamespace("default", Operation::kDelete),
     R"(403 namespaces "default" is forbidden: this namespace may not be deleted)"},
    {"DeleteKubeSystem", OfNamespace("kube-system", Operation::kDelete),
     R"(403 namespaces "kube-system" is forbidden: this namespace may not be deleted)"},
    {"DeleteKubePublic", OfNamespace("kube-public", Operation::kDelete),
     R"(403 namespaces "kube-public" is forbidden: this namespace may not be deleted)"},
    {"UpdateDefault", OfNamespace("default", Operation::kUpdate), ""},
};
INSTANTIATE_TEST_SUITE_P(Table, NamespaceLifecycleTest, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.test; });

TEST(NamespaceLifecycle, NamesTheCauseOfARefusal) {
  TestCluster cluster;
  cluster.Put(kNamespaces, "ending", R"({"metadata":{"name":"ending"},"status":{"phase":"Terminating"}})");
  meta::Object object = Parse(kConfigMap);
  Attributes attributes;
  attributes.resource = {"", "v1", "configmaps"};
  attributes.kind = object.GetGvk();
  attributes.ns = "ending";
  attributes.object = &object;
  const meta::Result<> result =
      testing::RunTask(MakeNamespaceLifecycle(cluster.Inputs())->Mutate(meta::RequestContext(), attributes));
  ASSERT_FALSE(result);
  ASSERT_EQ(result.error().Get().causes.size(), 1u);
  EXPECT_EQ(result.error().Get().causes[0].reason, "NamespaceTerminating");
  EXPECT_EQ(result.error().Get().causes[0].field, "metadata.namespace");
}

TEST(NamespaceLifecycle, DoesNotHandleConnections) {
  TestCluster cluster;
  EXPECT_FALSE(
      TestCluster::Run(*MakeNamespaceLifecycle(cluster.Inputs()), InNamespace("none", Operation::kConnect)).asked);
}

}  // namespace
}  // namespace apimesh::admission
