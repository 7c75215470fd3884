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
