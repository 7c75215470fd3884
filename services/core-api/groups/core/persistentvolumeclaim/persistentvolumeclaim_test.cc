#include "services/core-api/groups/core/persistentvolumeclaim/persistentvolumeclaim.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "services/core-api/groups/testing.h"

namespace apimesh::core_api {
namespace {

using namespace testing;  // NOLINT: the folder's own
using Strings = std::vector<std::string>;

std::string Claim(std::string_view more, std::string_view storage = "1Gi", std::string_view status = "{}") {
  return fmt::format(R"({{"spec":{{"accessModes":["ReadWriteOnce"],"resources":{{"requests":{{"storage":"{}"}}}}{}}},)"
                     R"("status":{}}})",
                     storage, more, status);
}

TEST(PersistentVolumeClaim, CopiesDataSources) {
  const registry::Resource resource = PersistentVolumeClaimResource({});
  meta::Object claim =
      Defaulted(resource, Claim(R"(,"dataSourceRef":{"apiGroup":"x.example.com","kind":"Thing","name":"t"})"));
  resource.strategy->PrepareForCreate({}, claim);
  EXPECT_EQ(JsonAt(claim, "spec", "dataSource"), R"({"apiGroup":"x.example.com","kind":"Thing","name":"t"})");
  EXPECT_EQ(JsonAt(claim, "status"), R"({"phase":"Pending"})");
  claim = Defaulted(resource, Claim(R"(,"dataSource":{"apiGroup":"x.example.com","kind":"Thing","name":"t"})"));
  resource.strategy->PrepareForCreate({}, claim);
  EXPECT_EQ(JsonAt(claim, "spec", "dataSource"), "");
}

TEST(PersistentVolumeClaim, Rules) {
  const registry::Resource resource = PersistentVolumeClaimResource({});
  EXPECT_EQ(CreateErrors(resource, Claim("")), Strings());
  EXPECT_EQ(CreateErrors(resource, Claim("", "0")),
            Strings{R"(spec.resources[storage]: Invalid value: "0": must be greater than zero)"});
  EXPECT_EQ(CreateErrors(resource, Claim(R"(,"volumeMode":"X")")),
            Strings{R"(spec.volumeMode: Unsupported value: "X": supported values: "Block", "Filesystem")"});
}

TEST(PersistentVolumeClaim, BoundClaimsCanGrow) {
  const registry::Resource resource = PersistentVolumeClaimResource({});
  const char* bound = R"({"phase":"Bound","capacity":{"storage":"1Gi"}})";
  const Strings immutable = {
      "spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for "
      "bound claims"};
  EXPECT_EQ(UpdateErrors(resource, Claim(""), Claim("", "2Gi")), immutable);
  EXPECT_EQ(UpdateErrors(resource, Claim("", "1Gi", bound), Claim("", "2Gi")), Strings());
  EXPECT_EQ(UpdateErrors(resource, Claim("", "2Gi", bound), Claim("", "1Gi")),
            Strings{"spec.resources.requests.storage: Forbidden: field can not be less than status.capacity"});
  EXPECT_EQ(UpdateErrors(resource, Claim(""), Claim(R"(,"volumeName":"v")")), Strings());
  EXPECT_EQ(UpdateErrors(resource, Claim(R"(,"volumeName":"v")"), Claim(R"(,"volumeName":"w")")), immutable);
}

}  // namespace
}  // namespace apimesh::core_api
