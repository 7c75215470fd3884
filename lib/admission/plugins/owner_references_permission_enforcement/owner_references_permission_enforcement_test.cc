#include "lib/admission/plugins/owner_references_permission_enforcement/owner_references_permission_enforcement.h"

#include <set>

#include "lib/admission/testing_cluster.h"

namespace apimesh::admission {
namespace {

std::string Owned(const std::string& owners) {
  return fmt::format(R"({{"metadata":{{"name":"p","ownerReferences":[{}]}}}})", owners);
}
std::string Owner(const std::string& version, const std::string& kind, bool blocks, const std::string& uid = "u") {
  return fmt::format(R"({{"apiVersion":"{}","kind":"{}","name":"o","uid":"{}","blockOwnerDeletion":{}}})", version,
                     kind, uid, blocks);
}
const std::string kPlain = Owner("apps/v1", "ReplicaSet", false), kBlocking = Owner("apps/v1", "ReplicaSet", true);

/// Allows the questions in `allowed`: "verb group/resource/subresource namespace/name".
class Owners : public ::testing::Test {
 protected:
  Owners() {
    cluster_.auth->decide = [this](const service::AccessQuestion& question) -> meta::Result<service::AccessDecision> {
      const auto& info = question.info;
      last_ = fmt::format("{} {}/{}/{} {}/{}", info.verb.Text(), info.api_group, info.resource, info.subresource,
                          info.ns, info.name);
      service::AccessDecision decision;
      decision.allowed = allowed_.contains(last_);
      decision.reason = "no rule";
      return decision;
    };
    cluster_.Put(
        {"apiextensions.k8s.io", "customresourcedefinitions"}, "foos.example.com",
        R"({"metadata":{"name":"foos.example.com"},"spec":{"group":"example.com","scope":"Cluster","names":{"plural":
                    "foos","kind":"Foo"},"versions":[{"name":"v1","served":true},{"name":"v0","served":false}]}})");
  }
  std::string Creates(const std::string& owners) { return Run({.resource = "pods", .object = Owned(owners)}); }
  std::string Updates(const std::string& owners, const std::string& old, const std::string& resource = "pods") {
    return Run({.operation = Operation::kUpdate,
                .resource = resource,
                .name = "p",
                .object = Owned(owners),
                .old_object = Owned(old)});
  }
  std::string Run(const Write& write) {
    const std::unique_ptr<Plugin> plugin = MakeOwnerReferencesPermissionEnforcement(cluster_.Inputs());
    return TestCluster::Run(*plugin, write).error;
  }

  TestCluster cluster_;
  std::set<std::string> allowed_;
  std::string last_;
};

const std::string kUndeletable =
    R"(403 pods "p" is forbidden: cannot set an ownerRef on a resource you can't delete: no rule, <nil>)";
const std::string kUnfinalizable =
    R"(403 pods "p" is forbidden: cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set )"
    "finalizers on: no rule, <nil>";

TEST_F(Owners, NewObjectsMayHaveOwners) {
  EXPECT_EQ(Creates(""), "");
  EXPECT_EQ(Creates(kPlain), "");
  EXPECT_EQ(last_, "") << "the authorizer is not asked";
}

TEST_F(Owners, ChangesNeedTheRightToDelete) {
  EXPECT_EQ(Updates(kPlain, ""), kUndeletable);
  EXPECT_EQ(last_, "delete /pods/ ns/p");
  EXPECT_EQ(Updates("", kPlain), kUndeletable);
  EXPECT_EQ(Updates(Owner("v1", "Node", false), kPlain), kUndeletable);
  EXPECT_EQ(Updates(kPlain, kPlain), "");
  EXPECT_EQ(Updates(kPlain, "", "pods/status"), "");
  allowed_ = {"delete /pods/ ns/p"};
  EXPECT_EQ(Updates(kPlain, ""), "");
  EXPECT_EQ(Updates("", kPlain), "");
}

TEST_F(Owners, BlockingNeedsTheRightToFinalize) {
  EXPECT_EQ(Creates(kBlocking), kUnfinalizable);
  EXPECT_EQ(last_, "update apps/replicasets/finalizers ns/o");
  EXPECT_EQ(Creates(Owner("v1", "Node", true)), kUnfinalizable);
  EXPECT_EQ(last_, "update /nodes/finalizers /o");
  EXPECT_EQ(Creates(Owner("example.com/v1", "Foo", true)), kUnfinalizable);
  EXPECT_EQ(last_, "update example.com/foos/finalizers /o");
  allowed_ = {"update apps/replicasets/finalizers ns/o", "delete /pods/ ns/p"};
  EXPECT_EQ(Creates(kBlocking), "");
  EXPECT_EQ(Updates(kBlocking, kPlain), "");
  EXPECT_EQ(Creates(kBlocking + "," + Owner("v1", "Node", true, "v")), kUnfinalizable);
  allowed_ = {"update */*/finalizers /*", "delete /pods/ ns/p"};
  EXPECT_EQ(Creates(Owner("v1", "Node", true)), "");
  allowed_ = {"delete /pods/ ns/p"};
  EXPECT_EQ(Updates(kBlocking + "," + kPlain, kBlocking), "") << "it blocked before";
  EXPECT_EQ(Updates(kBlocking, kPlain), kUnfinalizable);
}

TEST_F(Owners, UnknownKindsAreRefused) {
  EXPECT_EQ(
      Creates(Owner("example.com/v0", "Foo", true)),
      R"(403 pods "p" is forbidden: cannot set blockOwnerDeletion in this case because cannot find RESTMapping for )"
      R"(APIVersion example.com/v0 Kind Foo: no matches for kind "Foo" in version "example.com/v0")");
}

TEST_F(Owners, WithoutAnAuthorizerChangesAreRefused) {
  cluster_.auth = nullptr;
  EXPECT_NE(Updates(kPlain, ""), "");
  EXPECT_NE(Creates(kBlocking), "");
}

}  // namespace
}  // namespace apimesh::admission
