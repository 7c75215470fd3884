#include "services/core-api/groups/all_groups.h"

#include <gtest/gtest.h>

#include <set>

namespace apimesh::core_api {
namespace {

TEST(AllResources, EachOnceWithASchema) {
  std::set<meta::Gvr> seen;
  for (const registry::Resource& resource : AllResources({})) {
    EXPECT_TRUE(seen.insert(resource.GetGvr()).second) << resource.plural;
    EXPECT_NE(resource.schema, nullptr) << resource.plural;
    EXPECT_NE(resource.strategy, nullptr) << resource.plural;
    EXPECT_FALSE(resource.verbs.empty()) << resource.plural;
  }
  EXPECT_GT(seen.size(), 60U);
  EXPECT_TRUE(seen.contains({"apps", "v1", "deployments"}));
  EXPECT_FALSE(seen.contains({"apiextensions.k8s.io", "v1", "customresourcedefinitions"}));
}

TEST(AllResources, OnlyTheGroupsAskedFor) {
  for (const registry::Resource& resource : AllResources({"apps"})) EXPECT_EQ(resource.gvk.group, "apps");
}

}  // namespace
}  // namespace apimesh::core_api
