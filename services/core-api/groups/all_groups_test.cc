#include "services/core-api/groups/all_groups.h"

#include <set>

#include <gmock/gmock.h>

#include "services/core-api/groups/kind_inputs.h"
#include "services/core-api/resources/table.h"

namespace apimesh::core_api {
namespace {

using ::testing::Contains;
using ::testing::Not;

TEST(AllResources, EachOnceWithASchema) {
  std::set<meta::Gvr> seen;
  for (const registry::Resource& resource : AllResources({})) {
    EXPECT_TRUE(seen.insert(resource.GetGvr()).second) << resource.plural;
    EXPECT_NE(resource.schema, nullptr) << resource.plural;
    EXPECT_NE(resource.strategy, nullptr) << resource.plural;
    EXPECT_FALSE(resource.verbs.empty()) << resource.plural;
  }
  EXPECT_GT(seen.size(), 60U);
}

/// Two groups are served by other servers of the mesh.
bool IsElsewhere(const ResourceRow& row) {
  return row.group == "apiextensions.k8s.io" || row.group == "apiregistration.k8s.io";
}

/// Everything is switched on.
KindInputs EverythingOn() {
  KindInputs inputs;
  inputs.flags.runtime_config = {"api/all=true"};
  inputs.features = features::FeatureGates({"AllAlpha=true", "AllBeta=true"});
  return inputs;
}

TEST(AllResources, GroupsListEveryResourceOfTheTable) {
  std::set<meta::Gvr> listed;
  for (const registry::Resource& resource : AllResources(EverythingOn())) listed.insert(resource.GetGvr());
  for (const ResourceRow& row : ResourceTable()) {
    if (row.IsSubresource()) continue;
    const bool found = listed.contains({row.group, row.version, row.resource});
    EXPECT_NE(found, IsElsewhere(row)) << row.group << " " << row.version << " " << row.resource;
  }
}

TEST(AllResources, VersionsThatAreOffAreMissing) {
  std::set<std::string> versions;
  for (const registry::Resource& resource : AllResources({})) versions.insert(resource.gvk.version);
  EXPECT_THAT(versions, ::testing::ElementsAre("v1", "v2"));
  versions.clear();
  for (const registry::Resource& resource : AllResources(EverythingOn())) versions.insert(resource.gvk.version);
  EXPECT_THAT(versions, ::testing::ElementsAre("v1", "v1alpha1", "v1alpha2", "v1alpha3", "v1beta1", "v1beta2", "v2"));
}

TEST(AllResources, KindsOfFeaturesNeedTheirGate) {
  KindInputs inputs = EverythingOn();
  inputs.features = features::FeatureGates();
  for (const registry::Resource& resource : AllResources(inputs)) {
    EXPECT_THAT(resource.plural, Not(::testing::AnyOf("clustertrustbundles", "podcertificaterequests", "workloads",
                                                      "podgroups", "storageversionmigrations")));
  }
}

std::vector<std::string> ServedWith(const Flags& flags) {
  KindInputs inputs;
  inputs.flags = flags;
  std::vector<std::string> served;
  for (const registry::Resource& resource : AllResources(inputs)) {
    if (IsServedHere(inputs, resource)) served.push_back(resource.GetGroupResource().ToString());
  }
  return served;
}

TEST(IsServedHere, OnlyTheGroupsAskedFor) {
  Flags flags;
  flags.api_groups = {"core", "apps"};
  const std::vector<std::string> served = ServedWith(flags);
  EXPECT_THAT(served, Contains("pods"));
  EXPECT_THAT(served, Contains("deployments.apps"));
  EXPECT_THAT(served, Not(Contains("jobs.batch")));
}

TEST(IsServedHere, WhatRuntimeConfigLeavesOn) {
  Flags flags;
  flags.runtime_config = {"batch/v1=false"};
  const std::vector<std::string> served = ServedWith(flags);
  EXPECT_THAT(served, Contains("pods"));
  EXPECT_THAT(served, Not(Contains("jobs.batch")));
}

const registry::Subresource* Find(const std::vector<registry::Resource>& all, const std::string& resource,
                                  std::string_view name) {
  for (const registry::Resource& one : all) {
    if (one.GetGroupResource().ToString() != resource) continue;
    for (const registry::Subresource& subresource : one.subresources) {
      if (subresource.name == name) return &subresource;
    }
  }
  return nullptr;
}

TEST(AllResources, SubresourcesHaveTheirBehaviour) {
  const std::vector<registry::Resource> all = AllResources({});
  for (const char* name : {"binding", "eviction"}) EXPECT_TRUE(Find(all, "pods", name)->create) << name;
  for (const char* name : {"attach", "exec", "log", "portforward", "proxy"})
    EXPECT_TRUE(Find(all, "pods", name)->connector) << name;
  EXPECT_TRUE(Find(all, "nodes", "proxy")->connector);
  EXPECT_TRUE(Find(all, "services", "proxy")->connector);
  EXPECT_EQ(Find(all, "serviceaccounts", "token"), nullptr) << "without a signing key there are no tokens";
}

TEST(AllResources, ResourcesWithoutObjectsHaveAnAction) {
  for (const registry::Resource& resource : AllResources({})) {
    EXPECT_TRUE(!resource.storage_prefix.empty() || resource.create || resource.store) << resource.plural;
  }
}

}  // namespace
}  // namespace apimesh::core_api
