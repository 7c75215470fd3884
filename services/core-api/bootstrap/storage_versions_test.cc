#include "services/core-api/bootstrap/storage_versions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/meta/time.h"
#include "services/core-api/groups/all_groups.h"
#include "services/core-api/groups/kind_inputs.h"

namespace apimesh::core_api {
namespace {

using ::testing::ElementsAre;

const StoredResource* Find(const std::vector<StoredResource>& all, std::string_view name) {
  for (const StoredResource& one : all) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

TEST(StorageVersions, OfAllStoredResources) {
  KindInputs inputs;
  inputs.flags.runtime_config = {"resource.k8s.io/v1beta1=true"};
  const std::vector<StoredResource> all = StoredResources(AllResources(inputs));
  const StoredResource* const pods = Find(all, "core.pods");
  ASSERT_TRUE(pods);
  EXPECT_EQ(pods->encoding_version, "v1");
  EXPECT_THAT(pods->served_versions, ElementsAre("v1"));
  const StoredResource* const claims = Find(all, "resource.k8s.io.resourceclaims");
  ASSERT_TRUE(claims);
  EXPECT_EQ(claims->encoding_version, "resource.k8s.io/v1");
  EXPECT_THAT(claims->served_versions,
              ::testing::UnorderedElementsAre("resource.k8s.io/v1", "resource.k8s.io/v1beta1"));
  EXPECT_THAT(
      claims->decodable_versions,
      ::testing::UnorderedElementsAre("resource.k8s.io/v1", "resource.k8s.io/v1beta1", "resource.k8s.io/v1beta2"));
  // Events of both groups are the same objects, and reviews are not stored.
  EXPECT_NE(Find(all, "core.events") != nullptr, Find(all, "events.k8s.io.events") != nullptr);
  EXPECT_FALSE(Find(all, "authentication.k8s.io.tokenreviews"));
  EXPECT_TRUE(Find(all, "apiextensions.k8s.io.customresourcedefinitions"));
}

std::string Status(const meta::Object& object) {
  return meta::json::serialize(*meta::FindField(object.Root(), "status"));
}

TEST(StorageVersions, ServersAreEntered) {
  const WallTime first = *meta::ParseTime("2026-01-01T00:00:00Z"), later = first + std::chrono::hours(1);
  meta::Object object;
  StoredResource resource{"core.pods", "v1", {"v1"}, {"v1"}};
  EXPECT_TRUE(SetServerVersions(resource, "a", first, object));
  EXPECT_EQ(
      Status(object),
      R"({"storageVersions":[{"apiServerID":"a","encodingVersion":"v1","decodableVersions":["v1"],)"
      R"("servedVersions":["v1"]}],"commonEncodingVersion":"v1","conditions":[{"type":"AllEncodingVersionsEqual",)"
      R"("status":"True","reason":"CommonEncodingVersionSet","message":"Common encoding version set",)"
      R"("lastTransitionTime":"2026-01-01T00:00:00Z"}]})");
  EXPECT_FALSE(SetServerVersions(resource, "a", later, object)) << "nothing changes";
  resource.encoding_version = "v2";
  EXPECT_TRUE(SetServerVersions(resource, "b", later, object));
  EXPECT_FALSE(meta::Find(object.Root(), "status", "commonEncodingVersion"));
  EXPECT_THAT(Status(object), ::testing::HasSubstr(R"("status":"False","reason":"CommonEncodingVersionUnset",)"
                                                   R"("message":"Common encoding version unset",)"
                                                   R"("lastTransitionTime":"2026-01-01T01:00:00Z")"));
}

}  // namespace
}  // namespace apimesh::core_api
