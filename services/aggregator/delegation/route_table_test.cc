#include "services/aggregator/delegation/route_table.h"

#include <gtest/gtest.h>

#include "services/aggregator/test_peers.h"

namespace apimesh::aggregator {
namespace {

class RouteTableTest : public ::testing::Test {
 protected:
  RouteTableTest() {
    mesh::Description all;
    all.etag = "1";
    all.group_versions = {DescribeVersion("", "v1", "pods", 1000), apps_};
    core_->Describe(all);
    table_.Add("core-api", core_);
    table_.Start([](RoutesPtr) {});
  }
  ~RouteTableTest() override { table_.Stop(); }

  static mesh::Description Describing(std::vector<mesh::GroupVersionPtr> versions) {
    mesh::Description description;
    description.group_versions = std::move(versions);
    return description;
  }
  /// Returns the name of the server of a resource.
  std::string ServerOf(const std::string& group, const std::string& resource) const {
    meta::RequestInfo info;
    info.is_resource_request = true;
    info.api_group = group;
    info.api_version = "v1";
    info.resource = resource;
    return table_.Current()->For(info)->name;
  }
  std::string ServerOfDeployments() const { return ServerOf("apps", "deployments"); }

  const mesh::GroupVersionPtr apps_ = DescribeVersion("apps", "v1", "deployments", 500);
  const std::shared_ptr<FakeDelegate> core_ = std::make_shared<FakeDelegate>("core-api");
  const std::shared_ptr<FakeDelegate> shard_ = std::make_shared<FakeDelegate>("shard");
  RouteTable table_;
};

TEST_F(RouteTableTest, ShardServesItsGroupsWhileItDescribesThem) {
  table_.SetShards({{"apps", shard_}});
  EXPECT_EQ(ServerOfDeployments(), "core-api");  // the shard has not described anything yet
  EXPECT_TRUE(table_.Current()->DescribesChain());
  shard_->Describe(Describing({apps_}));
  EXPECT_EQ(ServerOfDeployments(), "apps");
  EXPECT_EQ(ServerOf("", "pods"), "core-api");
  shard_->Describe(mesh::Description());  // it withdraws its groups
  EXPECT_EQ(ServerOfDeployments(), "core-api");
}

TEST_F(RouteTableTest, ShardThatIsDownKeepsItsGroupsUntilItIsRemoved) {
  table_.SetShards({{"apps", shard_}});
  shard_->Describe(Describing({apps_}));
  shard_->Describe(std::nullopt);
  EXPECT_EQ(ServerOfDeployments(), "apps");
  table_.SetShards({});
  EXPECT_EQ(ServerOfDeployments(), "core-api");
}

TEST_F(RouteTableTest, ReplacedClientTakesOverTheDescription) {
  table_.SetShards({{"apps", shard_}});
  shard_->Describe(Describing({apps_}));
  const auto next = std::make_shared<FakeDelegate>("next");
  table_.SetShards({{"apps", next}});
  meta::RequestInfo info;
  info.api_group = "apps";
  info.api_version = "v1";
  EXPECT_EQ(table_.Current()->For(info)->client, next);
  shard_->Describe(mesh::Description());  // the previous client has no effect any more
  EXPECT_EQ(ServerOfDeployments(), "apps");
}

TEST_F(RouteTableTest, CommonServerServesWhatTheShardDoesNotListYet) {
  table_.SetShards({{"apps", shard_}});
  shard_->Describe(Describing({DescribeVersion("apps", "v1", "statefulsets", 500)}));
  EXPECT_EQ(ServerOf("apps", "statefulsets"), "apps");
  EXPECT_EQ(ServerOfDeployments(), "core-api");
}

TEST_F(RouteTableTest, DiscoveryIsThatOfTheCommonServer) {
  table_.SetShards({{"apps", shard_}});
  shard_->Describe(Describing({DescribeVersion("apps", "v1", "deployments", 500)}));
  EXPECT_EQ(table_.Current()->by_group_version.at("apps/v1").description, apps_);
}

class BuiltInGroupsTest : public RouteTableTest {
 protected:
  BuiltInGroupsTest() {
    table_.Stop();
    table_.Add("extensions-api", extensions_);
    table_.Add("own", own_, Delegate::Kind::kOwn);
    table_.Start([](RoutesPtr) {});
    own_->Describe(Describing({apiservices_}));
  }
  /// Returns nullptr if no server may be asked.
  const Delegate* Server(const std::string& group, const std::string& version, bool is_resource = true) const {
    meta::RequestInfo info;
    info.is_resource_request = is_resource;
    info.api_group = group;
    info.api_version = version;
    info.resource = "foos";
    return table_.Current()->For(info);
  }

  const mesh::GroupVersionPtr apiservices_ = DescribeVersion("apiregistration.k8s.io", "v1", "apiservices");
  const std::shared_ptr<FakeDelegate> extensions_ = std::make_shared<FakeDelegate>("extensions-api");
  const std::shared_ptr<FakeDelegate> own_ = std::make_shared<FakeDelegate>("own");
};

TEST_F(BuiltInGroupsTest, VersionsThatDefinitionsAddAreListedButCannotBeReached) {
  extensions_->Describe(Describing(
      {DescribeVersion("apiextensions.k8s.io", "v1", "customresourcedefinitions"),
       DescribeVersion("apiextensions.k8s.io", "v7", "foos"), DescribeVersion("apiregistration.k8s.io", "v7", "foos"),
       DescribeVersion("apps", "v7", "foos"), DescribeVersion("example.com", "v7", "foos")}));
  for (const char* group : {"apiextensions.k8s.io", "apiregistration.k8s.io", "apps"}) {
    EXPECT_EQ(Server(group, "v7"), nullptr) << group;
    EXPECT_EQ(Server(group, "v7", false)->name, "extensions-api") << group << ", the OpenAPI document";
    EXPECT_TRUE(table_.Current()->Lists({group, "v7"}, "foos")) << group << ", the creation of a definition waits";
  }
  EXPECT_EQ(Server("apiextensions.k8s.io", "v1")->name, "extensions-api");
  EXPECT_EQ(Server("apiregistration.k8s.io", "v1")->name, "own");
  EXPECT_EQ(Server("apps", "v1")->name, "core-api");
  EXPECT_EQ(Server("example.com", "v7")->name, "extensions-api");
}

TEST_F(BuiltInGroupsTest, VersionsThatAServerHasBuiltInStayReachable) {
  extensions_->Describe(
      Describing({DescribeVersion("apiregistration.k8s.io", "v1", "foos"), DescribeVersion("apps", "v1", "foos")}));
  EXPECT_EQ(Server("apiregistration.k8s.io", "v1")->name, "own");
  EXPECT_EQ(table_.Current()->by_group_version.at("apiregistration.k8s.io/v1").description, apiservices_);
  EXPECT_EQ(Server("apps", "v1")->name, "core-api");
}

TEST_F(BuiltInGroupsTest, ServersOutsideTheMeshMayServeFurtherVersions) {
  const mesh::GroupVersionPtr external = DescribeVersion("apps", "v7", "foos");
  extensions_->Describe(Describing({DescribeVersion("apps", "v7", "foos")}));
  table_.SetExternal({{"v7.apps", own_, Describing({external}), true, Delegate::Kind::kExternal}});
  EXPECT_EQ(Server("apps", "v7")->name, "v7.apps");
  table_.SetExternal({});
  EXPECT_EQ(Server("apps", "v7"), nullptr);
}

TEST_F(BuiltInGroupsTest, AShardThatServesADefinitionDoesNotMakeItReachable) {
  const mesh::GroupVersionPtr added = DescribeVersion("apps", "v7", "foos");
  extensions_->Describe(Describing({added}));
  table_.SetShards({{"shard", shard_}});
  shard_->Describe(Describing({added}));
  EXPECT_EQ(Server("apps", "v7"), nullptr);
}

TEST_F(RouteTableTest, ReportsMovements) {
  int moved = 0;
  auto handle = table_.OnMoved([&moved] { ++moved; });
  table_.SetShards({{"apps", shard_}});
  EXPECT_EQ(moved, 0);
  shard_->Describe(Describing({apps_}));
  EXPECT_EQ(moved, 1);
  shard_->Describe(std::nullopt);  // down, but its groups stay
  EXPECT_EQ(moved, 1);
  table_.SetShards({});
  EXPECT_EQ(moved, 2);
  handle.reset();
  table_.SetShards({{"apps", shard_}});
  shard_->Describe(Describing({apps_}));
  EXPECT_EQ(moved, 2);
}

}  // namespace
}  // namespace apimesh::aggregator
