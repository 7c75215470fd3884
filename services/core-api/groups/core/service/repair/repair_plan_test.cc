#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/core-api/groups/core/service/repair/address_repair.h"
#include "services/core-api/groups/core/service/repair/port_repair.h"

namespace apimesh::core_api {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const WallTime kNow = WallTime() + std::chrono::hours(1000);

ServiceRecord Service(const std::string& name, std::vector<std::string> ips) {
  ServiceRecord service;
  service.reference = {"v1", "Service", "ns", name, "uid-of-" + name, "1"};
  service.type = "ClusterIP";
  service.ips = std::move(ips);
  service.created = kNow - std::chrono::hours(1);
  return service;
}

AddressRecord Address(const std::string& ip, const std::string& service, seconds age = std::chrono::hours(1)) {
  AddressRecord address;
  address.reference = {"networking.k8s.io/v1", "IPAddress", "", ip, "uid-of-" + ip, "1"};
  address.managed = address.labelled = address.of_service = true;
  address.parent_ns = "ns";
  address.parent_name = service;
  address.created = kNow - age;
  return address;
}

struct Case {
  const char* name;
  std::vector<ServiceRecord> services;
  std::vector<AddressRecord> addresses;
  std::vector<std::string> want;  // "create 10.0.0.5", or "event Reason"
};

class AddressRepair : public ::testing::TestWithParam<Case> {};

TEST_P(AddressRepair, Plans) {
  const AddressPlan plan =
      PlanAddressRepair(GetParam().services, GetParam().addresses, {*IpRange::Parse("10.0.0.0/24")}, kNow);
  std::vector<std::string> found;
  for (const AddressChange& change : plan.changes) {
    const char* names[] = {"create", "replace", "delete"};
    found.push_back(std::string(names[static_cast<int>(change.kind)]) + " " + change.ip);
  }
  for (const RepairEvent& event : plan.events) found.push_back("event " + event.reason);
  if (plan.check_again) found.emplace_back("check again");
  EXPECT_EQ(found, GetParam().want);
}

AddressRecord Wrong(AddressRecord address) {
  address.of_service = false;
  return address;
}
AddressRecord Unlabelled(AddressRecord address) {
  address.labelled = false;
  return address;
}
AddressRecord Foreign(AddressRecord address) {
  address.managed = address.labelled = false;
  return address;
}
ServiceRecord External(ServiceRecord service) {
  service.type = "ExternalName";
  return service;
}

const Case kCases[] = {
    {"Agree", {Service("a", {"10.0.0.5"})}, {Address("10.0.0.5", "a")}, {}},
    {"NotAllocated", {Service("a", {"10.0.0.5"})}, {}, {"create 10.0.0.5"}},
    {"OutOfRange", {Service("a", {"10.9.0.5"})}, {}, {"event ClusterIPOutOfRange"}},
    {"NotAnAddress", {Service("a", {"nope"})}, {}, {"event ClusterIPNotValid"}},
    {"OfANonService", {Service("a", {"10.0.0.5"})}, {Wrong(Address("10.0.0.5", "a"))}, {"replace 10.0.0.5"}},
    {"OfADeletedService", {Service("a", {"10.0.0.5"})}, {Address("10.0.0.5", "gone")}, {"replace 10.0.0.5"}},
    {"WithoutLabels", {Service("a", {"10.0.0.5"})}, {Unlabelled(Address("10.0.0.5", "a"))}, {"replace 10.0.0.5"}},
    {"OfTwoServices",
     {Service("a", {"10.0.0.5"}), Service("b", {"10.0.0.5"})},
     {Address("10.0.0.5", "a")},
     {"event ClusterIPAlreadyAllocated"}},
    {"Leaked", {}, {Address("10.0.0.5", "gone")}, {"delete 10.0.0.5"}},
    {"MaybeBeingCreated", {}, {Address("10.0.0.5", "new", seconds(30))}, {"check again"}},
    {"MaybeBecomingAClusterIp", {External(Service("a", {}))}, {Address("10.0.0.5", "a", seconds(30))}, {"check again"}},
    {"NotOfTheService",
     {Service("a", {"10.0.0.6"})},
     {Address("10.0.0.6", "a"), Address("10.0.0.5", "a")},
     {"delete 10.0.0.5"}},
    {"MaybeReverted",
     {Service("a", {"10.0.0.6"})},
     {Address("10.0.0.6", "a"), Address("10.0.0.5", "a", seconds(2))},
     {"check again"}},
    {"OfAnotherController", {}, {Foreign(Address("10.0.0.5", "gone"))}, {}},
};
INSTANTIATE_TEST_SUITE_P(Table, AddressRepair, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(PortRepair, ReleasesALeakAfterThreeChecksAndAllocatesWhatIsMissing) {
  const PortRange range{30000, 100};
  PortBitmap stored(range, "");
  stored.Set(30001, true);
  stored.Set(30002, true);
  ServiceRecord service = Service("a", {});
  service.ports = {{30001, "TCP"}, {30001, "UDP"}, {30003, "TCP"}, {29999, "TCP"}};
  service.health_check_port = 30004;
  PortLeaks leaks;
  const auto reasons = [](const PortPlan& plan) {
    std::vector<std::string> found;
    for (const RepairEvent& event : plan.events) found.push_back(event.reason);
    return found;
  };
  PortPlan plan = PlanPortRepair({service}, range, stored.Bytes(), leaks);
  EXPECT_THAT(reasons(plan), ElementsAre("PortNotAllocated", "PortOutOfRange", "PortNotAllocated"));
  for (int check = 0; check < 2; ++check) {
    EXPECT_TRUE(PortBitmap(range, plan.bytes).Taken(30002)) << check;
    plan = PlanPortRepair({service}, range, plan.bytes, leaks);
    EXPECT_THAT(reasons(plan), ElementsAre("PortOutOfRange"));
  }
  plan = PlanPortRepair({service}, range, plan.bytes, leaks);
  const PortBitmap last(range, plan.bytes);
  EXPECT_FALSE(last.Taken(30002));
  EXPECT_THAT(leaks, IsEmpty());
  for (const std::int64_t port : {30001, 30003, 30004}) EXPECT_TRUE(last.Taken(port)) << port;
}

TEST(PortRepair, ReportsPortsOfTwoServices) {
  ServiceRecord one = Service("a", {}), two = Service("b", {});
  one.ports = two.ports = {{30001, "TCP"}};
  PortLeaks leaks;
  const PortPlan plan = PlanPortRepair({one, two}, {30000, 100}, "", leaks);
  ASSERT_EQ(plan.events.size(), 2U);
  EXPECT_EQ(plan.events[1].reason, "PortAlreadyAllocated");
  EXPECT_EQ(plan.events[1].note, "Port 30001 was assigned to multiple services; please recreate service");
}

}  // namespace
}  // namespace apimesh::core_api
