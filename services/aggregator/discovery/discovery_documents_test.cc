#include "services/aggregator/discovery/discovery_documents.h"

#include <gtest/gtest.h>

#include "services/aggregator/test_peers.h"

namespace apimesh::aggregator {
namespace {

/// The routes of one server, as RouteTable makes them.
Routes RoutesOf(std::vector<mesh::GroupVersionPtr> versions, Delegate::Kind kind = Delegate::Kind::kChain) {
  Routes routes;
  routes.delegates.resize(1);
  routes.delegates[0].kind = kind;
  routes.delegates[0].description.emplace();
  for (const mesh::GroupVersionPtr& one : versions)
    routes.by_group_version[one->group + "/" + one->version] = {0, one, {}};
  return routes;
}

TEST(DiscoveryDocuments, AnswersAllPaths) {
  const auto core = DescribeVersion("", "v1", "pods", 18000),
             apps = DescribeVersion("apps", "v1", "deployments", 17800);
  const DiscoveryDocuments documents(RoutesOf({core, apps}), "host:1", nullptr);
  EXPECT_EQ(documents.Find("/apis/apps/v1")->json.View(), apps->resource_list + "\n");
  EXPECT_EQ(documents.Find("/api/v1")->json.View(), core->resource_list + "\n");
  EXPECT_EQ(documents.Find("/api")->json.View(),
            R"({"kind":"APIVersions","versions":["v1"],"serverAddressByClientCIDRs":[{"clientCIDR":"0.0.0.0/0",)"
            R"("serverAddress":"host:1"}]})"
            "\n");
  const std::string group = R"("name":"apps","versions":[{"groupVersion":"apps/v1","version":"v1"}],)"
                            R"("preferredVersion":{"groupVersion":"apps/v1","version":"v1"}})";
  EXPECT_EQ(documents.Find("/apis/apps")->json.View(), R"({"kind":"APIGroup","apiVersion":"v1",)" + group + "\n");
  EXPECT_EQ(documents.Find("/apis")->json.View(),
            R"({"kind":"APIGroupList","apiVersion":"v1","groups":[{)" + group + "]}\n");
  EXPECT_EQ(documents.OpenApiIndex().json.View(),
            R"({"paths":{"api/v1":{"serverRelativeURL":"/openapi/v3/api/v1?hash=Hv1"},)"
            R"("apis/apps/v1":{"serverRelativeURL":"/openapi/v3/apis/apps/v1?hash=Hv1"}}})"
            "\n");
  for (const char* path : {"/apis/", "/apis/other", "/apis/apps/v2", "/apis/apps/v1/x", "/api/v2", "/api/", "/x"})
    EXPECT_EQ(documents.Find(path), nullptr) << path;
  EXPECT_EQ(documents.Paths(), (std::vector<std::string>{"/api", "/apis", "/api/v1", "/apis/apps", "/apis/apps/v1"}));
}

TEST(DiscoveryDocuments, KnowsWhichPathsOnlyAServerCanAnswer) {
  const auto apps = DescribeVersion("apps", "v1", "deployments");
  Routes routes = RoutesOf({apps});
  const DiscoveryDocuments documents(routes, "", nullptr);
  for (const char* path : {"/apis/other", "/apis/other/v1", "/apis/apps/v2", "/api/v2"})
    EXPECT_FALSE(documents.IsForwarded(path)) << path;
  for (const char* path : {"/apix", "/apis/apps/v1/x", "/api/v1/x"}) EXPECT_TRUE(documents.IsForwarded(path)) << path;
  const DiscoveryDocuments external(RoutesOf({apps}, Delegate::Kind::kExternal), "", nullptr);
  EXPECT_TRUE(external.IsForwarded("/apis/apps/v1"));
  EXPECT_FALSE(external.IsForwarded("/apis/apps/v2"));
  routes.delegates[0].description.reset();
  EXPECT_TRUE(DiscoveryDocuments(routes, "", nullptr).IsForwarded("/apis/other/v1")) << "it may be served";
}

TEST(DiscoveryDocuments, SharesUnchangedGroupsAndHasStableEtags) {
  const auto kept = DescribeVersion("a.example.com", "v1", "as"), old = DescribeVersion("b.example.com", "v1", "bs"),
             next = DescribeVersion("b.example.com", "v1", "cs");
  const DiscoveryDocuments first(RoutesOf({kept, old}), "", nullptr);
  const DiscoveryDocuments second(RoutesOf({kept, next}), "", &first);
  const DiscoveryDocuments third(RoutesOf({kept, old}), "", &second);
  EXPECT_EQ(first.Find("/apis/a.example.com"), second.Find("/apis/a.example.com"));
  EXPECT_NE(first.Find("/apis/b.example.com/v1")->json.View(), second.Find("/apis/b.example.com/v1")->json.View());
  EXPECT_NE(first.AggregatedGroups().etag, second.AggregatedGroups().etag);
  EXPECT_EQ(first.AggregatedGroups().json.View(), third.AggregatedGroups().json.View());
  EXPECT_EQ(first.AggregatedGroups().etag, third.AggregatedGroups().etag);
  const DiscoveryDocuments other_process(
      RoutesOf({DescribeVersion("a.example.com", "v1", "as"), DescribeVersion("b.example.com", "v1", "bs")}), "",
      nullptr);
  EXPECT_EQ(first.AggregatedGroups().etag, other_process.AggregatedGroups().etag);
}

TEST(DiscoveryDocuments, ListsOfServersOutsideTheMeshAreForwarded) {
  const auto external = DescribeVersion("sea.example.com", "v1", "fishes");
  const DiscoveryDocuments documents(RoutesOf({external}, Delegate::Kind::kExternal), "", nullptr);
  EXPECT_EQ(documents.Find("/apis/sea.example.com/v1"), nullptr);
  EXPECT_NE(documents.Find("/apis/sea.example.com"), nullptr);
}

TEST(DiscoveryDocuments, VersionsThatCannotBeReachedAreListedWithoutDocument) {
  Routes routes = RoutesOf({DescribeVersion("apps", "v1", "deployments"), DescribeVersion("apps", "v7", "foos")});
  routes.by_group_version["apps/v7"].unreachable = true;
  const DiscoveryDocuments documents(routes, "", nullptr);
  EXPECT_EQ(documents.Find("/apis/apps/v7"), nullptr);
  EXPECT_FALSE(documents.IsForwarded("/apis/apps/v7"));
  EXPECT_NE(documents.Find("/apis/apps")->json.View().find("apps/v7"), std::string_view::npos);
  EXPECT_EQ(documents.Paths(), (std::vector<std::string>{"/api", "/apis", "/apis/apps", "/apis/apps/v1"}));
}

}  // namespace
}  // namespace apimesh::aggregator
