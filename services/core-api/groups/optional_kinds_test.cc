#include <gtest/gtest.h>

#include "services/core-api/groups/certificates/clustertrustbundle/clustertrustbundle.h"
#include "services/core-api/groups/coordination/leasecandidate/leasecandidate.h"
#include "services/core-api/groups/internal/storageversion/storageversion.h"
#include "services/core-api/groups/scheduling/podgroup/podgroup.h"
#include "services/core-api/groups/storagemigration/storageversionmigration/storageversionmigration.h"
#include "services/core-api/groups/testing_cases.h"

/// Kinds that are off by default (--runtime-config).
namespace apimesh::core_api {
namespace {

using namespace testing;  // NOLINT: the folder's own

const KindCase kCreates[] = {
    {&LeaseCandidateResource,
     R"({"spec":{"leaseName":"l","binaryVersion":"1.36.0","emulationVersion":"1.35.0","strategy":"OldestEmulationVersion"}})",
     {}},
    {&LeaseCandidateResource,
     R"({"spec":{}})",
     {"spec.leaseName: Required value", "spec.binaryVersion: Required value", "spec.strategy: Required value"}},
    {&LeaseCandidateResource,
     R"({"spec":{"leaseName":"l","binaryVersion":"1.34.0","emulationVersion":"1.35.0","strategy":"Newest"}})",
     {R"(spec.binaryVersion: Invalid value: "1.34.0": must be greater than or equal to `emulationVersion`)",
      R"(spec.strategy.strategy: Unsupported value: "Newest": supported values: "OldestEmulationVersion")"}},
    {&LeaseCandidateResource,
     R"({"spec":{"leaseName":"l","binaryVersion":"1.36","strategy":"OldestEmulationVersion"}})",
     {R"(spec.binaryVersion: Invalid value: "1.36": must be a valid semantic version)",
      "spec.emulationVersion: Required value: must be specified when `strategy` is 'OldestEmulationVersion'"}},
    {&ClusterTrustBundleResource,
     R"({"metadata":{"name":"a:b"},"spec":{"trustBundle":"x"}})",
     {R"(metadata.name: Invalid value: "a:b": ClusterTrustBundle without signer name must not have ":" in its name)",
      R"(spec.trustBundle: Invalid value: "<value omitted>": at least one trust anchor must be provided)"}},
    {&ClusterTrustBundleResource,
     R"({"metadata":{"name":"b"},"spec":{"signerName":"example.com/a","trustBundle":"-----BEGIN KEY-----\nAA==\n-----END KEY-----"}})",
     {R"(metadata.name: Invalid value: "b": ClusterTrustBundle for signerName example.com/a must be named with prefix )"
      "example.com:a:",
      R"(spec.trustBundle: Invalid value: "<value omitted>": entry 0 has bad block type: KEY)"}},
    {&StorageVersionMigrationResource,
     R"({"spec":{"resource":{"group":"a_b"}}})",
     {"spec.resource.resource: Required value: resource is required to be set",
      R"(spec.resource.group: Invalid value: "a_b": a lowercase RFC 1123 subdomain must consist of lower case )"
      "alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', "
      "regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"}},
    {&PodGroupResource, R"({"spec":{"schedulingPolicy":{"gang":{"minCount":2}}}})", {}},
    {&PodGroupResource,
     R"({"spec":{}})",
     {R"(spec.schedulingPolicy: Invalid value: "": must specify one of: `basic`, `gang`)"}},
    {&PodGroupResource,
     R"({"spec":{"schedulingPolicy":{"basic":{},"gang":{"minCount":-1}}}})",
     {R"(spec.schedulingPolicy: Invalid value: "{basic, gang}": must specify exactly one of: `basic`, `gang`)",
      "spec.schedulingPolicy.gang.minCount: Invalid value: -1: must be greater than or equal to 1"}},
    {&WorkloadResource, R"({"spec":{}})", {"spec.podGroupTemplates: Required value"}},
};

TEST(OptionalKinds, Creates) {
  for (const KindCase& one : kCreates)
    EXPECT_EQ(CreateErrors(one.kind(InputsWithClock()), one.object), one.want) << one.object;
}

TEST(OptionalKinds, UpdatesKeepImmutableFields) {
  EXPECT_EQ(UpdateErrors(StorageVersionMigrationResource({}), R"({"spec":{"resource":{"resource":"pods"}}})",
                         R"({"spec":{"resource":{"resource":"nodes"}}})"),
            Strings{R"(spec: Invalid value: {"resource":{"resource":"nodes"}}: field is immutable)"});
  EXPECT_EQ(UpdateErrors(PodGroupResource({}), R"({"spec":{"schedulingPolicy":{"basic":{}}}})",
                         R"({"spec":{"schedulingPolicy":{"gang":{"minCount":1}}}})"),
            Strings{"spec.schedulingPolicy: Invalid value: null: field is immutable"});
}

TEST(OptionalKinds, StorageVersionNames) {
  const registry::Resource resource = StorageVersionResource({});
  EXPECT_TRUE(resource.validate_name("apps.deployments", false).empty());
  EXPECT_EQ(resource.validate_name("deployments", false),
            std::vector<std::string>{"name must be in the form of <group>.<resource>"});
}

}  // namespace
}  // namespace apimesh::core_api
