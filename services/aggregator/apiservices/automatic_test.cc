#include "services/aggregator/apiservices/automatic.h"

#include <gtest/gtest.h>

#include "services/aggregator/apiservices/external_discovery.h"

namespace apimesh::aggregator {
namespace {

meta::Object ApiService(const char* management, int priority = 1) {
  meta::json::object metadata = {{"name", "v1.a"}};
  if (*management) metadata["labels"] = {{kAutomanaged, management}};
  return meta::Object(meta::json::object{{"metadata", metadata}, {"spec", {{"versionPriority", priority}}}});
}

TEST(AutomaticApiServices, FollowTheChain) {
  Routes routes;
  routes.delegates.resize(2);
  EXPECT_FALSE(AutomaticApiServices(routes));
  mesh::Description core, extensions;
  const auto version = [](const char* group, const char* name, int group_priority, int priority) {
    return std::make_shared<const mesh::GroupVersionDescription>(
        mesh::GroupVersionDescription{group, name, group_priority, priority, "", "", ""});
  };
  core.group_versions = {version("", "v1", 18000, 1), version("apps", "v1", 17800, 15)};
  extensions.group_versions = {version("apiextensions.k8s.io", "v1", 16700, 15),
                               version("example.com", "v2", 1000, 100)};
  routes.delegates[0].description = core;
  EXPECT_FALSE(AutomaticApiServices(routes)) << "extensions-api has not said anything yet";
  routes.delegates[1].description = extensions;
  const auto made = AutomaticApiServices(routes);
  ASSERT_TRUE(made);
  ASSERT_EQ(made->size(), 4U);
  const auto object = [&made](const char* name) { return MakeApiService(made->at(name)); };
  EXPECT_EQ(*object("v1.").Label(kAutomanaged), "onstart");
  EXPECT_EQ(*object("v1.apiextensions.k8s.io").Label(kAutomanaged), "onstart");
  EXPECT_EQ(*object("v2.example.com").Label(kAutomanaged), "true");
  EXPECT_EQ(meta::FindField(object("v1.").Root().at("spec").as_object(), "group"), nullptr);
  EXPECT_EQ(object("v1.apps").Root().at("spec").at("groupPriorityMinimum"), 17800);
  // Only the difference has to be looked at after a change.
  EXPECT_EQ(ChangedNames(*made, *made), std::set<std::string>());
  extensions.group_versions[1] = version("example.com", "v3", 1000, 100);
  routes.delegates[1].description = extensions;
  EXPECT_EQ(ChangedNames(*made, *AutomaticApiServices(routes)),
            (std::set<std::string>{"v2.example.com", "v3.example.com"}));
}

TEST(AutomaticApiServices, WhatIsDoneAboutEach) {
  const meta::Object on_start = ApiService("onstart"), always = ApiService("true"), other = ApiService("true", 2),
                     mine = ApiService("");
  struct Case {
    const char* name;
    const meta::Object *desired, *current;
    bool at_start, synced;
    Upkeep want;
  };
  const Case cases[] = {
      {"wanted and missing", &always, nullptr, false, false, Upkeep::kCreate},
      {"deleted again and again", &always, nullptr, false, true, Upkeep::kCreate},
      {"one look at the start", &on_start, nullptr, false, false, Upkeep::kCreate},
      {"and no more", &on_start, nullptr, false, true, Upkeep::kNothing},
      {"as it should be", &always, &always, true, true, Upkeep::kNothing},
      {"another spec", &other, &always, true, true, Upkeep::kUpdate},
      {"a user's own", &always, &mine, true, false, Upkeep::kNothing},
      {"no longer wanted", nullptr, &always, true, true, Upkeep::kDelete},
      {"left from another version", nullptr, &on_start, true, false, Upkeep::kDelete},
      {"made by another replica", nullptr, &on_start, false, false, Upkeep::kNothing},
      {"nothing at all", nullptr, nullptr, false, false, Upkeep::kNothing},
  };
  for (const Case& c : cases) EXPECT_EQ(Decide(c.desired, c.current, c.at_start, c.synced), c.want) << c.name;
}

TEST(ExternalDiscovery, TranslatesTheOlderForm) {
  const Registration sea{"sea.example.com", "v1", 900, 20};
  const mesh::Description found = DescribeExternal(
      sea,
      R"({"kind":"APIResourceList","resources":[{"name":"fishes","singularName":"fish","namespaced":true,"kind":"Fish","verbs":["get"]},)"
      R"({"name":"fishes/scale","singularName":"","namespaced":true,"group":"autoscaling","version":"v1","kind":"Scale","verbs":["get"]}]})",
      "H");
  ASSERT_EQ(found.group_versions.size(), 1U);
  EXPECT_EQ(
      found.group_versions[0]->aggregated_discovery,
      R"({"version":"v1","resources":[{"resource":"fishes","responseKind":{"group":"sea.example.com","version":"v1","kind":"Fish"},)"
      R"("scope":"Namespaced","singularResource":"fish","verbs":["get"],"subresources":[{"subresource":"scale",)"
      R"("responseKind":{"group":"autoscaling","version":"v1","kind":"Scale"},"verbs":["get"]}]}],"freshness":"Current"})");
  EXPECT_EQ(found.group_versions[0]->openapi_v3_hash, "H");
  const mesh::Description lost = DescribeExternal(sea, "", "H");
  EXPECT_EQ(lost.group_versions[0]->aggregated_discovery, R"({"version":"v1","freshness":"Stale"})");
  EXPECT_EQ(lost.group_versions[0]->openapi_v3_hash, "H") << "the last document is still served";
  EXPECT_NE(lost.etag, found.etag);
  EXPECT_EQ(
      OpenApiHash(
          R"({"paths":{"apis/sea.example.com/v1":{"serverRelativeURL":"/openapi/v3/apis/sea.example.com/v1?hash=AB"}}})",
          "sea.example.com", "v1"),
      "AB");
  EXPECT_EQ(OpenApiHash(R"({"paths":{"apis/sea.example.com/v1":{"serverRelativeURL":"/a?hash=A B"}}})",
                        "sea.example.com", "v1"),
            "");
  EXPECT_EQ(OpenApiHash(R"({"paths":{}})", "sea.example.com", "v1"), std::nullopt);
  EXPECT_EQ(OpenApiHash("nonsense", "sea.example.com", "v1"), std::nullopt);
}

}  // namespace
}  // namespace apimesh::aggregator
