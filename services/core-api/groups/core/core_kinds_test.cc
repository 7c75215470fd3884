#include <gtest/gtest.h>

#include "services/core-api/groups/core/event/event.h"
#include "services/core-api/groups/core/node/node.h"
#include "services/core-api/groups/core/serviceaccount/serviceaccount.h"
#include "services/core-api/groups/testing_cases.h"

namespace apimesh::core_api {
namespace {

using namespace testing;  // NOLINT: the folder's own

const NamedKindCase kCases[] = {
    {"Node",
     &NodeResource,
     R"({"spec":{"podCIDR":"x","taints":[{"key":"a","effect":"Q"},{"key":"b","effect":"NoSchedule"},{"key":"b","effect":"NoSchedule"}]}})",
     {R"(metadata.taints[0].effect: Unsupported value: "Q": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute")",
      R"(metadata.taints[2]: Duplicate value: {"Key":"b","Value":"","Effect":"NoSchedule","TimeAdded":null}: taints must be unique by key and effect pair)",
      "spec.podCIDRs[0]: Invalid value: \"x\": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"}},
    {"EventElsewhere",
     &CoreEventResource,
     R"({"metadata":{"namespace":"default"},"involvedObject":{"namespace":"kube-system"}})",
     {"involvedObject.namespace: Invalid value: \"kube-system\": does not match event.namespace"}},
    {"EventWithTime",
     &CoreEventResource,
     R"({"metadata":{"namespace":"default"},"involvedObject":{"namespace":"default"},"eventTime":"2026-11-16T04:33:35.000000Z","reportingComponent":"c"})",
     {"reportingInstance: Required value", "action: Required value", "reason: Required value"}},
    {"NewEventWithoutTime",
     &EventResource,
     R"({"metadata":{"namespace":"default"},"regarding":{"namespace":"default"}})",
     {"eventTime: Required value", "type: Invalid value: \"\": has invalid value: "}},
};
class CoreCreate : public ::testing::TestWithParam<NamedKindCase> {};

TEST_P(CoreCreate, Complains) { EXPECT_EQ(CreateErrors(GetParam().resource({}), GetParam().json), GetParam().want); }
INSTANTIATE_TEST_SUITE_P(Table, CoreCreate, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Event, HasOneStoreUnderTwoNames) {
  const registry::Resource resource = EventResource({});
  meta::Object event = Parse(R"({"note":"n","regarding":{"kind":"Pod"},"reportingController":"c"})");
  resource.to_stored(event.Root());
  EXPECT_EQ(JsonAt(event, "message"), "\"n\"");
  EXPECT_EQ(JsonAt(event, "involvedObject"), R"({"kind":"Pod"})");
  resource.from_stored(event.Root());
  EXPECT_EQ(JsonAt(event, "note"), "\"n\"");
  EXPECT_EQ(JsonAt(event, "reportingController"), "\"c\"");
  EXPECT_EQ(resource.storage_prefix, CoreEventResource({}).storage_prefix);
}

TEST(Event, Table) {
  EXPECT_EQ(
      Row(EventResource({}),
          R"({"metadata":{"name":"e"},"type":"Normal","reason":"r","note":" m ","regarding":{"kind":"Pod","name":"p"},
      "reportingController":"c","reportingInstance":"i"})"),
      R"(["<unknown>","Normal","r","pod/p","","c, i","m","<unknown>",1,"e"])");
}

TEST(Node, KeepsItsAddressesAndItsProvider) {
  EXPECT_EQ(UpdateErrors(NodeResource({}), R"({"spec":{"podCIDR":"10.0.0.0/24","providerID":"a"}})",
                         R"({"spec":{"podCIDR":"10.0.1.0/24","providerID":"b"}})"),
            (Strings{"spec.podCIDRs: Forbidden: node updates may not change podCIDR except from \"\" to valid",
                     "spec.providerID: Forbidden: node updates may not change providerID except from \"\" to valid"}));
}

TEST(Node, Table) {
  EXPECT_EQ(
      Row(NodeResource({}),
          R"({"metadata":{"name":"n","labels":{"node-role.kubernetes.io/control-plane":""}},"spec":{"unschedulable":true},
      "status":{"conditions":[{"type":"Ready","status":"True"}],"addresses":[{"type":"InternalIP","address":"1.2.3.4"}],
      "nodeInfo":{"kubeletVersion":"v1.36.0","kernelVersion":"6","architecture":"amd64"}}})"),
      R"row(["n","Ready,SchedulingDisabled","control-plane","<unknown>","v1.36.0","1.2.3.4","<none>","<unknown>","6 (amd64)","<unknown>"])row");
}

TEST(ServiceAccount, SecretsAreNames) {
  const registry::Resource resource = ServiceAccountResource({});
  meta::Object account = Parse(R"({"secrets":[{"name":"s","namespace":"x","uid":"u"}]})");
  resource.strategy->PrepareForCreate({}, account);
  EXPECT_EQ(JsonAt(account, "secrets"), R"([{"name":"s"}])");
}

}  // namespace
}  // namespace apimesh::core_api
