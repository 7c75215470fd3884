#include "services/core-api/groups/core/resourcequota/resourcequota.h"

#include <gtest/gtest.h>

#include "services/core-api/groups/testing.h"

namespace apimesh::core_api {
namespace {

using namespace testing;  // NOLINT: the folder's own
using Strings = std::vector<std::string>;

struct BadCase {
  const char* spec;
  Strings want;
};
const BadCase kBad[] = {
    {R"({"hard":{"pods":"1500m"}})", {R"(spec.hard[pods]: Invalid value: "1500m": must be an integer)"}},
    {R"({"hard":{"storage":"1"}})",
     {R"(spec.hard[storage]: Invalid value: "storage": must be a standard resource for quota)"}},
    {R"({"scopes":["X"]})", {R"(spec.scopes: Invalid value: ["X"]: unsupported scope)"}},
    {R"({"hard":{"cpu":"1"},"scopes":["BestEffort"]})",
     {R"(spec.scopes: Invalid value: ["BestEffort"]: unsupported scope applied to resource)"}},
    {R"({"scopes":["BestEffort","NotBestEffort"]})",
     {R"(spec.scopes: Invalid value: ["BestEffort","NotBestEffort"]: conflicting scopes)"}},
    {R"({"scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass","operator":"In"}]}})",
     {"spec.scopeSelector.matchExpressions.values: Required value: must be at least one value when `operator` is 'In' "
      "or 'NotIn' for scope selector"}},
};

TEST(ResourceQuota, Rules) {
  for (const BadCase& bad : kBad)
    EXPECT_EQ(CreateErrors(ResourceQuotaResource({}), std::string(R"({"spec":)") + bad.spec + "}"), bad.want);
}

TEST(ResourceQuota, ScopesAreImmutable) {
  EXPECT_EQ(UpdateErrors(ResourceQuotaResource({}), R"({"spec":{}})", R"({"spec":{"scopes":["Terminating"]}})"),
            Strings{R"(spec.scopes: Invalid value: ["Terminating"]: field is immutable)"});
}

TEST(ResourceQuota, Row) {
  EXPECT_EQ(
      Row(ResourceQuotaResource({}),
          R"({"metadata":{"name":"a"},"status":{"hard":{"pods":"5","limits.cpu":"1","cpu":"2"},"used":{"pods":"1"}}})"),
      R"(["a","cpu: 0/2, pods: 1/5","limits.cpu: 0/1","<unknown>"])");
}

}  // namespace
}  // namespace apimesh::core_api
