#include "services/core-api/groups/core/service/service.h"

#include <gtest/gtest.h>

#include "lib/testing/fake_store.h"
#include "lib/testing/manual_clock.h"
#include "lib/testing/run.h"
#include "services/core-api/groups/core/service/allocation.h"
#include "services/core-api/groups/core/service/fields.h"
#include "services/core-api/groups/testing.h"

namespace apimesh::core_api {
namespace {

using namespace testing;  // NOLINT: the folder's own
using Strings = std::vector<std::string>;

// The messages are those of kube-apiserver v1.36 for the same object.
TEST(Service, Rules) {
  EXPECT_EQ(
      CreateErrors(
          ServiceResource({}),
          R"({"spec":{"type":"Q","sessionAffinity":"Z","ports":[{"port":80},{"port":80,"targetPort":"A_"}]}})"),
      (Strings{
          "spec.ports[0].name: Required value", "spec.ports[1].name: Required value",
          "spec.ports[1].targetPort: Invalid value: \"A_\": must contain only alpha-numeric characters (a-z, 0-9), and "
          "hyphens (-)",
          "spec.ports[1].targetPort: Invalid value: \"A_\": must contain at least one letter (a-z)",
          "spec.sessionAffinity: Unsupported value: \"Z\": supported values: \"ClientIP\", \"None\"",
          "spec.type: Unsupported value: \"Q\": supported values: \"ClusterIP\", \"ExternalName\", \"LoadBalancer\", "
          "\"NodePort\"",
          "spec.ports[1]: Duplicate value: "
          "{\"Name\":\"\",\"Protocol\":\"TCP\",\"AppProtocol\":null,\"Port\":80,\"TargetPort\":0,\"NodePort\":0}"}));
}

TEST(Service, Table) {
  EXPECT_EQ(Row(ServiceResource({}),
                R"({"metadata":{"name":"s"},"spec":{"type":"NodePort","clusterIPs":["10.0.0.9"],"selector":{"a":"b"},
      "ports":[{"port":80,"nodePort":30080,"protocol":"TCP"},{"port":53,"protocol":"UDP"}]}})"),
            R"(["s","NodePort","10.0.0.9","<none>","80:30080/TCP,53/UDP","<unknown>","a=b"])");
}

class ServiceAllocation : public ::testing::Test {
 protected:
  ServiceAllocation() {
    AllocationOptions options;
    options.clock = &clock_;
    options.cidrs = {*IpRange::Parse("10.0.0.0/29")};
    options.node_ports = *PortRange::Parse("30000-30002");
    storage::ResourceConfig addresses;
    addresses.resource = {"networking.k8s.io", "ipaddresses"};
    addresses.key_prefix = "ipaddresses";
    addresses.namespaced = false;
    options.ip_addresses = std::make_shared<apimesh::testing::FakeStore>(addresses);
    options.ranges = std::make_shared<apimesh::testing::FakeStore>(RangesConfig());
    addresses_ = options.ip_addresses;
    hooks_ = MakeServiceHooks(std::move(options));
  }

  meta::Object Make(std::string_view json) const {
    meta::Object service = Defaulted(ServiceResource({}), json);
    service.SetMeta("name", "s");
    service.SetMeta("namespace", "n");
    return service;
  }
  /// Returns the message of the error, or "".
  std::string Create(meta::Object& service) {
    const meta::Result<> result = apimesh::testing::RunTask(hooks_->BeginCreate({}, service));
    return result ? "" : result.error().Message();
  }
  std::int64_t Addresses() { return *apimesh::testing::RunTask(addresses_->Count({})); }

  storage::StorePtr addresses_;
  apimesh::testing::ManualClock clock_;
  std::shared_ptr<registry::Hooks> hooks_;
};

TEST_F(ServiceAllocation, EveryServiceHasAnAddressOfItsOwn) {
  std::set<std::string> seen;
  for (int i = 0; i < 6; ++i) {
    meta::Object service = Make(R"({"spec":{"ports":[{"port":80}]}})");
    EXPECT_EQ(Create(service), "");
    seen.insert(std::string(meta::FindString(service.Root(), "spec", "clusterIP")));
    EXPECT_EQ(JsonAt(service, "spec", "ipFamilies"), R"(["IPv4"])");
    EXPECT_EQ(JsonAt(service, "spec", "ipFamilyPolicy"), "\"SingleStack\"");
  }
  EXPECT_EQ(seen.size(), 6U);
  meta::Object one_more = Make(R"({"spec":{"ports":[{"port":80}]}})");
  EXPECT_EQ(Create(one_more),
            "Internal error occurred: failed to allocate a serviceIP for Service \"s\": range is full");
}

TEST_F(ServiceAllocation, TheAddressAskedFor) {
  meta::Object service = Make(R"({"spec":{"clusterIP":"10.0.0.3","ports":[{"port":80}]}})");
  EXPECT_EQ(Create(service), "");
  EXPECT_EQ(JsonAt(service, "spec", "clusterIPs"), R"(["10.0.0.3"])");
  meta::Object again = Make(R"({"spec":{"clusterIP":"10.0.0.3","ports":[{"port":80}]}})");
  EXPECT_EQ(Create(again),
            "Service \"s\" is invalid: spec.clusterIPs: Invalid value: [\"10.0.0.3\"]: failed to allocate IP 10.0.0.3: "
            "provided IP is already allocated");
  meta::Object outside = Make(R"({"spec":{"clusterIP":"1.2.3.4","ports":[{"port":80}]}})");
  EXPECT_EQ(Create(outside),
            "Service \"s\" is invalid: spec.clusterIPs: Invalid value: [\"1.2.3.4\"]: failed to allocate IP 1.2.3.4: "
            "the provided network does not match the current range");
  apimesh::testing::RunTask(hooks_->AfterDelete({}, service));
  EXPECT_EQ(Addresses(), 0);
  EXPECT_EQ(Create(again), "");
}

TEST_F(ServiceAllocation, NodePorts) {
  meta::Object service = Make(
      R"({"spec":{"type":"NodePort","ports":[{"name":"a","port":53,"protocol":"TCP"},{"name":"b","port":53,"protocol":"UDP"},{"name":"c","port":80,"nodePort":30001}]}})");
  EXPECT_EQ(Create(service), "");
  const meta::json::array& ports = meta::Find(service.Root(), "spec", "ports")->as_array();
  EXPECT_EQ(ports[0].at("nodePort"), ports[1].at("nodePort"));
  EXPECT_EQ(ports[2].at("nodePort"), 30001);
  meta::Object taken = Make(R"({"spec":{"type":"NodePort","ports":[{"port":80,"nodePort":30001}]}})");
  EXPECT_EQ(
      Create(taken),
      "Service \"s\" is invalid: spec.ports[0].nodePort: Invalid value: 30001: provided port is already allocated");
  meta::Object outside = Make(R"({"spec":{"type":"NodePort","ports":[{"port":80,"nodePort":1}]}})");
  EXPECT_EQ(Create(outside),
            "Service \"s\" is invalid: spec.ports[0].nodePort: Invalid value: 1: provided port is not in the valid "
            "range. The range of valid ports is 30000-30002");
  EXPECT_EQ(Addresses(), 1);

  // The change to ClusterIP releases the ports and keeps the address.
  meta::Object plain = Make(R"({"spec":{"type":"ClusterIP","ports":[{"name":"c","port":80}]}})");
  ASSERT_TRUE(apimesh::testing::RunTask(hooks_->BeginUpdate({}, plain, service)));
  EXPECT_EQ(ClusterIps(plain), ClusterIps(service));
  apimesh::testing::RunTask(hooks_->GiveBack({}, service, plain));
  EXPECT_EQ(Create(taken), "");
}

TEST_F(ServiceAllocation, HeadlessAndExternalNamesNeedNone) {
  meta::Object headless = Make(R"({"spec":{"clusterIP":"None","ports":[{"port":80}]}})");
  EXPECT_EQ(Create(headless), "");
  EXPECT_EQ(JsonAt(headless, "spec", "ipFamilies"), R"(["IPv4","IPv6"])");
  EXPECT_EQ(JsonAt(headless, "spec", "ipFamilyPolicy"), "\"RequireDualStack\"");
  meta::Object external = Make(R"({"spec":{"type":"ExternalName","externalName":"x.y"}})");
  EXPECT_EQ(Create(external), "");
  EXPECT_EQ(Addresses(), 0);
}

TEST(PortBitmap, IsABigEndianNumber) {
  PortBitmap bitmap(*PortRange::Parse("30000-32767"), "");
  bitmap.Set(30000, true);
  bitmap.Set(30009, true);
  EXPECT_EQ(bitmap.Bytes(), std::string("\x02\x01", 2));
  bitmap.Set(30009, false);
  EXPECT_EQ(bitmap.Bytes(), std::string("\x01", 1));
}

}  // namespace
}  // namespace apimesh::core_api
