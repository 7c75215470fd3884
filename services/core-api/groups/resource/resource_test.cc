#include <gtest/gtest.h>

#include "services/core-api/groups/resource/deviceclass/deviceclass.h"
#include "services/core-api/groups/resource/devicetaintrule/devicetaintrule.h"
#include "services/core-api/groups/resource/resourceclaim/resourceclaim.h"
#include "services/core-api/groups/resource/resourceclaimtemplate/resourceclaimtemplate.h"
#include "services/core-api/groups/resource/resourcepoolstatusrequest/resourcepoolstatusrequest.h"
#include "services/core-api/groups/resource/resourceslice/resourceslice.h"
#include "services/core-api/groups/resource/v1beta1.h"
#include "services/core-api/groups/testing_cases.h"

namespace apimesh::core_api {
namespace {

using namespace testing;  // NOLINT: the folder's own

const KindCase kCreates[] = {
    {&DeviceClassResource,
     R"({"spec":{"selectors":[{}],"config":[{}],"extendedResourceName":"cpu"}})",
     {"spec.selectors[0].cel: Required value", "spec.config[0].opaque: Required value",
      R"(spec.extendedResourceName: Invalid value: "cpu": must be a valid extended resource name)"}},
    {&DeviceClassResource,
     R"-({"spec":{"selectors":[{"cel":{"expression":"device.driver.size()"}},)-"
     R"-({"cel":{"expression":"device.attributes['a'].b.c"}},{"cel":{"expression":"device.allowMultipleAllocations"}},)-"
     R"-({"cel":{"expression":"cel.bind(a, device.attributes['a'], a.b)"}},{"cel":{"expression":"device.x"}},)-"
     R"-({"cel":{"expression":"device.attributes.all(a, device.attributes.all(b, device.attributes.all(c, )-"
     R"-(a + b + c == '')))"}}]}})-",
     {R"-(spec.selectors[0].cel.expression: Invalid value: "device.driver.size()": must evaluate to bool or the )-"
      "unknown type, not int",
      R"-(spec.selectors[1].cel.expression: Invalid value: "device.attributes['a'].b.c": must evaluate to bool or the )-"
      "unknown type, not dyn",
      R"-(spec.selectors[4].cel.expression: Invalid value: "device.x": compilation failed: ERROR: <input>:1:7: )-"
      "undefined field 'x'\n | device.x\n | ......^",
      "spec.selectors[5].cel.expression: Forbidden: too complex, exceeds cost limit"}},
    {&ResourceClaimResource,
     R"({"spec":{"devices":{"requests":[{"name":"r"}]}}})",
     {"spec.devices.requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is required"}},
    {&ResourceClaimTemplateResource,
     R"({"spec":{"spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"c","allocationMode":"All",)"
     R"("count":1}}]}}}})",
     {"spec.spec.devices.requests[0].exactly.count: Invalid value: 1: must not be specified when allocationMode is "
      "'All'"}},
    {&ResourceSliceResource,
     R"({"spec":{"driver":"d","pool":{"name":"p","resourceSliceCount":1}}})",
     {"spec: Required value: exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is "
      "required"}},
    {&ResourceSliceResource,
     R"({"spec":{"driver":"d","pool":{"name":"p","resourceSliceCount":1},"nodeName":"n","devices":[{"name":"a",)"
     R"("attributes":{"v":{"version":"1"}}},{"name":"a"}]}})",
     {R"(spec.devices[0].attributes[v].version: Invalid value: "1": must be a string compatible with semver.org spec )"
      "2.0.0",
      R"(spec.devices[1]: Duplicate value: "a")"}},
    {&DeviceTaintRuleResource,
     R"({"spec":{"deviceSelector":{"driver":"a_b","pool":"","device":"X"},"taint":{"key":"","effect":"Never"}}})",
     {R"(spec.deviceSelector.driver: Invalid value: "a_b": a lowercase RFC 1123 subdomain must consist of lower case )"
      "alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', "
      "regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
      R"(spec.deviceSelector.pool: Required value)",
      R"(spec.deviceSelector.device: Invalid value: "X": a lowercase RFC 1123 label must consist of lower case )"
      "alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or "
      "'123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
      R"(spec.taint.key: Invalid value: "": name part must be non-empty)",
      R"(spec.taint.key: Invalid value: "": name part must consist of alphanumeric characters, '-', '_' or '.', and )"
      "must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
      "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
      R"(spec.taint.effect: Unsupported value: "Never": supported values: "NoExecute", "NoSchedule", "None")"}},
    {&ResourcePoolStatusRequestResource,
     R"({"spec":{"driver":"","limit":0}})",
     {"spec.driver: Required value", "spec.limit: Invalid value: 0: must be greater than or equal to 1"}},
};

TEST(DynamicResources, Creates) {
  for (const KindCase& one : kCreates)
    EXPECT_EQ(CreateErrors(one.kind(InputsWithClock()), one.object), one.want) << one.object;
}

TEST(DynamicResources, V1beta1IsConverted) {
  const struct {
    VersionConversion conversion;
    const char *v1beta1, *v1;
  } cases[] = {
      {ClaimV1beta1(),
       R"({"spec":{"devices":{"requests":[{"name":"a","deviceClassName":"c","count":2},{"name":"b","firstAvailable":[{}]}]}}})",
       R"({"spec":{"devices":{"requests":[{"name":"a","exactly":{"deviceClassName":"c","count":2}},)"
       R"({"name":"b","firstAvailable":[{}]}]}}})"},
      {ClaimTemplateV1beta1(), R"({"spec":{"spec":{"devices":{"requests":[{"name":"a","deviceClassName":"c"}]}}}})",
       R"({"spec":{"spec":{"devices":{"requests":[{"name":"a","exactly":{"deviceClassName":"c"}}]}}}})"},
      {SliceV1beta1(),
       R"({"spec":{"nodeName":"n","devices":[{"name":"a","basic":{"taints":[{}]}},{"name":"b","basic":{}}]}})",
       R"({"spec":{"nodeName":"n","devices":[{"name":"a","taints":[{}]},{"name":"b"}]}})"},
  };
  for (const auto& c : cases) {
    meta::Object object = Parse(c.v1beta1);
    c.conversion.to_hub(object.Root());
    EXPECT_EQ(boost::json::serialize(object.Root()), c.v1);
    c.conversion.from_hub(object.Root());
    EXPECT_EQ(boost::json::serialize(object.Root()), c.v1beta1);
  }
}

TEST(DynamicResources, Defaults) {
  const meta::Object claim =
      Defaulted(ResourceClaimResource({}), R"({"spec":{"devices":{"requests":[{"name":"r","exactly":{}}]}}})");
  EXPECT_EQ(JsonAt(claim, "spec", "devices", "requests"),
            R"([{"name":"r","exactly":{"allocationMode":"ExactCount","count":1}}])");
  const meta::Object slice = Defaulted(ResourceSliceResource(InputsWithClock()),
                                       R"({"spec":{"devices":[{"name":"a","taints":[{"key":"k"}]}]}})");
  EXPECT_NE(JsonAt(slice, "spec", "devices").find("timeAdded"), std::string::npos);
}

TEST(DynamicResources, SpecsOfClaimsAreImmutable) {
  EXPECT_EQ(
      UpdateErrors(ResourceClaimResource({}), R"({"spec":{"devices":{}}})", R"({"spec":{"devices":{"requests":[]}}})")
          .size(),
      1U);
}

TEST(DynamicResources, Rows) {
  EXPECT_EQ(Row(ResourceClaimResource({}),
                R"({"metadata":{"name":"a"},"status":{"allocation":{},"reservedFor":[{"uid":"u"}]}})"),
            R"(["a","allocated,reserved","<unknown>"])");
  EXPECT_EQ(Row(ResourceSliceResource(InputsWithClock()),
                R"({"metadata":{"name":"a"},"spec":{"nodeName":"n","driver":"d","pool":{"name":"p"}}})"),
            R"(["a","n","d","p","<unknown>"])");
}

}  // namespace
}  // namespace apimesh::core_api
