#include "services/core-api/groups/core/endpoints/endpoints.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "services/core-api/groups/core/node/node.h"
#include "services/core-api/groups/core/pod/pod.h"
#include "services/core-api/groups/core/service/service.h"
#include "services/core-api/groups/discovery/endpointslice/endpointslice.h"
#include "services/core-api/groups/testing.h"
#include "services/core-api/resources/generic.h"

namespace apimesh::core_api {
namespace {

using namespace testing;  // NOLINT: the folder's own
using Strings = std::vector<std::string>;

constexpr const char* kLoopback = "may not be in the loopback range (127.0.0.0/8, ::1/128)";
constexpr const char* kLinkLocal = "may not be in the link-local range (169.254.0.0/16, fe80::/10)";
constexpr const char* kMulticast = "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)";
constexpr const char* kNoIp = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
constexpr const char* kMapped = "must not be an IPv4-mapped IPv6 address";
constexpr const char* kZeros = "must not have leading 0s";

struct AddressCase {
  const char* ip;
  Strings want;
};
// The messages are those of kube-apiserver v1.36 for the same addresses. It accepts the addresses of the last three
// lines.
const AddressCase kAddresses[] = {
    {"10.0.0.1", {}},
    {"fd00::1", {}},
    {"127.0.0.1", {kLoopback}},
    {"127.9.9.9", {kLoopback}},
    {"::1", {kLoopback}},
    {"0.0.0.0", {"may not be unspecified (0.0.0.0)"}},
    {"::", {"may not be unspecified (::)"}},
    {"169.254.169.254", {kLinkLocal}},
    {"fe80::1", {kLinkLocal}},
    {"224.0.0.1", {kMulticast}},
    {"ff02::1", {kMulticast}},
    {"x", {kNoIp, "must be a valid IP address"}},
    {"127.1", {kNoIp, "must be a valid IP address"}},
    {"fe80::1%eth0", {kNoIp, "must be a valid IP address"}},
    {"010.0.0.1", {kZeros}},
    {"0127.0.0.1", {kZeros, kLoopback}},
    {"::ffff:10.0.0.1", {kMapped}},
    {"::ffff:127.0.0.1", {kMapped, kLoopback}},
    {"::127.0.0.1", {kLoopback}},
    {"64:ff9b::7f00:1", {kLoopback}},
    {"2002:7f00:1::", {kLoopback}},
};

TEST(Endpoints, LeadToNoSpecialAddress) {
  for (const AddressCase& one : kAddresses) {
    for (const char* list : {"addresses", "notReadyAddresses"}) {
      Strings want;
      for (const std::string& message : one.want)
        want.push_back(fmt::format("subsets[0].{}[0].ip: Invalid value: \"{}\": {}", list, one.ip, message));
      const std::string json =
          fmt::format(R"({{"subsets":[{{"{}":[{{"ip":"{}"}}],"ports":[{{"port":80}}]}}]}})", list, one.ip);
      EXPECT_EQ(CreateErrors(EndpointsResource({}), json), want);
    }
  }
}

TEST(Endpoints, OldSubsetsMayStay) {
  const char* old = R"({"subsets":[{"addresses":[{"ip":"127.0.0.1"}]}]})";
  EXPECT_EQ(UpdateErrors(EndpointsResource({}), old,
                         R"({"metadata":{"labels":{"a":"b"}},"subsets":[{"addresses":[{"ip":"127.0.0.1"}]}]})"),
            Strings());
  EXPECT_EQ(UpdateErrors(EndpointsResource({}), old, R"({"subsets":[{"addresses":[{"ip":"127.0.0.2"}]}]})"),
            Strings{std::string("subsets[0].addresses[0].ip: Invalid value: \"127.0.0.2\": ") + kLoopback});
}

TEST(Endpoints, Rules) {
  EXPECT_EQ(
      CreateErrors(EndpointsResource({}),
                   R"({"subsets":[{"ports":[{"port":0},{"name":"A_","port":70000,"protocol":"X"}]}]})"),
      (Strings{
          "subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`",
          "subsets[0].ports[0].name: Required value",
          "subsets[0].ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive",
          "subsets[0].ports[1].name: Invalid value: \"A_\": a lowercase RFC 1123 label must consist of lower case "
          "alphanumeric characters or '-', "
          "and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for "
          "validation is "
          "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
          "subsets[0].ports[1].port: Invalid value: 70000: must be between 1 and 65535, inclusive",
          "subsets[0].ports[1].protocol: Unsupported value: \"X\": supported values: \"SCTP\", \"TCP\", \"UDP\""}));
}

Strings SliceErrors(std::string_view type, std::string_view ip) {
  return CreateErrors(
      EndpointSliceResource({}),
      fmt::format(R"({{"addressType":"{}","endpoints":[{{"addresses":["{}"]}}],"ports":[]}})", type, ip));
}
Strings SliceError(std::string_view ip, std::string_view message, std::string_view where = "[0]") {
  return {fmt::format("endpoints[0].addresses{}: Invalid value: \"{}\": {}", where, ip, message)};
}

TEST(EndpointSlice, LeadsToNoSpecialAddress) {
  for (const AddressCase& one : kAddresses) {
    const std::string ip = one.ip;
    const std::string type = ip.find(':') == std::string::npos ? "IPv4" : "IPv6";
    if (ip == "::127.0.0.1") continue;  // not canonical, see below
    // A text that is not an IP address gets no further errors.
    EXPECT_EQ(SliceErrors(type, ip), one.want.empty() ? Strings() : SliceError(ip, one.want.front())) << ip;
  }
  EXPECT_EQ(SliceErrors("IPv6", "::127.0.0.1"), SliceError("::127.0.0.1", "must be in canonical form (\"::7f00:1\")"));
  EXPECT_EQ(SliceErrors("IPv6", "::7f00:1"), SliceError("::7f00:1", kLoopback));
  EXPECT_EQ(SliceErrors("IPv6", "FD00::1"), SliceError("FD00::1", "must be in canonical form (\"fd00::1\")"));
  EXPECT_EQ(SliceErrors("IPv4", "fd00::1"), SliceError("fd00::1", "must be an IPv4 address", ""));
  EXPECT_EQ(SliceErrors("IPv6", "10.0.0.1"), SliceError("10.0.0.1", "must be an IPv6 address", ""));
}

TEST(EndpointSlice, Rules) {
  EXPECT_EQ(SliceErrors("FQDN", "a.example.com."), Strings());
  EXPECT_EQ(SliceErrors("FQDN", "a"),
            SliceError("a", "should be a domain with at least two segments separated by dots"));
  EXPECT_EQ(SliceErrors("Q", "a"),
            Strings{"addressType: Unsupported value: \"Q\": supported values: \"FQDN\", \"IPv4\", \"IPv6\""});
  EXPECT_EQ(
      CreateErrors(EndpointSliceResource({}),
                   R"({"addressType":"IPv4","endpoints":[{"addresses":[]}],"ports":[{"name":"a"},{"name":"a"}]})"),
      (Strings{"ports[1].name: Duplicate value: \"a\"",
               "endpoints[0].addresses: Required value: must contain at least 1 address"}));
  const char* old = R"({"addressType":"IPv4","endpoints":[{"addresses":["127.0.0.1"]}]})";
  EXPECT_EQ(UpdateErrors(EndpointSliceResource({}), old, old), Strings());
  EXPECT_EQ(
      UpdateErrors(EndpointSliceResource({}), old, R"({"addressType":"IPv6","endpoints":[{"addresses":["fd00::1"]}]})"),
      Strings{"addressType: Invalid value: \"IPv6\": field is immutable"});
}

TEST(EndpointSlice, EmptyTextsAreInvalid) {
  EXPECT_EQ(CreateErrors(EndpointSliceResource({}),
                         R"({"addressType":"IPv4","ports":[{"name":"","protocol":""}],"endpoints":[]})"),
            Strings{"ports[0].protocol: Unsupported value: \"\": supported values: \"SCTP\", \"TCP\", \"UDP\""});
  EXPECT_EQ(
      CreateErrors(EndpointSliceResource({}),
                   R"({"addressType":"IPv4","endpoints":[{"addresses":["10.1.1.1"],"hostname":"","nodeName":""}]})")
          .size(),
      2U);
}

TEST(EndpointSlice, KeepsNodesOfTheOldTopology) {
  const registry::Resource resource = EndpointSliceResource({});
  const auto slice = [&resource](std::string_view endpoint, std::string_view label) {
    return Defaulted(
        resource,
        fmt::format(R"({{"metadata":{{"generation":3,"labels":{{"a":"{}"}}}},"endpoints":[{}]}})", label, endpoint));
  };
  constexpr const char* kOld = R"({"addresses":["10.1.1.1"],"deprecatedTopology":{"kubernetes.io/hostname":"n"}})";
  constexpr const char* kNew = R"({"addresses":["10.1.1.2"],"deprecatedTopology":{"kubernetes.io/hostname":"n"}})";
  meta::Object created = slice(kNew, "b");
  resource.strategy->PrepareForCreate({}, created);
  EXPECT_EQ(JsonAt(created, "endpoints"), R"([{"addresses":["10.1.1.2"]}])");

  meta::Object updated = slice(kNew, "b");
  resource.strategy->PrepareForUpdate({}, updated, slice(kOld, "b"));
  EXPECT_EQ(JsonAt(updated, "endpoints"), R"([{"addresses":["10.1.1.2"],"nodeName":"n"}])");
  EXPECT_EQ(updated.Generation(), 4);

  meta::Object relabelled = slice(kOld, "c");
  resource.strategy->PrepareForUpdate({}, relabelled, slice(kOld, "b"));
  EXPECT_EQ(JsonAt(relabelled, "endpoints"), fmt::format("[{}]", kOld));
  EXPECT_EQ(relabelled.Generation(), 4);
}

TEST(EndpointSlice, Row) {
  EXPECT_EQ(Row(EndpointSliceResource({}),
                R"({"metadata":{"name":"s"},"addressType":"IPv4","ports":[{"port":80},{"name":"a"},{}],
                    "endpoints":[{"addresses":["a","b"]},{"addresses":["c","d"]}]})"),
            R"(["s","IPv4","80,a,*","a,b,c + 1 more...","<unknown>"])");
  EXPECT_EQ(Row(EndpointSliceResource({}), R"({"metadata":{"name":"s"}})"),
            R"(["s","","<unset>","<unset>","<unknown>"])");
}

Strings ExternalIpErrors(const char* before, const char* after) {
  constexpr const char* kService =
      R"({{"spec":{{"clusterIP":"10.0.0.1","clusterIPs":["10.0.0.1"],"ports":[{{"port":80}}],"externalIPs":["{}"]}}}})";
  return UpdateErrors(ServiceResource({}), fmt::format(fmt::runtime(kService), before),
                      fmt::format(fmt::runtime(kService), after));
}

TEST(Service, ExternalIpsLeadToNoSpecialAddress) {
  const auto error = [](std::string_view ip, std::string_view message) {
    return Strings{fmt::format("spec.externalIPs[0]: Invalid value: \"{}\": {}", ip, message)};
  };
  EXPECT_EQ(ExternalIpErrors("10.1.1.1", "10.1.1.2"), Strings());
  EXPECT_EQ(ExternalIpErrors("10.1.1.1", "127.0.0.1"), error("127.0.0.1", kLoopback));
  EXPECT_EQ(ExternalIpErrors("10.1.1.1", "010.1.1.1"), error("010.1.1.1", kZeros));
  EXPECT_EQ(ExternalIpErrors("010.1.1.1", "010.1.1.1"), Strings()) << "stored by an older server";
  EXPECT_EQ(ExternalIpErrors("::ffff:127.0.0.1", "::ffff:127.0.0.1"), error("::ffff:127.0.0.1", kLoopback));
  EXPECT_EQ(ExternalIpErrors("10.1.1.1", "::ffff:127.0.0.1"), error("::ffff:127.0.0.1", kMapped));
}

Strings StatusErrors(registry::Resource resource, std::string_view before, std::string_view after) {
  const meta::Object old = Defaulted(resource, before);
  meta::Object object = Defaulted(resource, after);
  const registry::StrategyPtr strategy = SubresourceOf(resource, "status").strategy;
  strategy->PrepareForUpdate({}, object, old);
  return Texts(strategy->ValidateUpdate({}, object, old));
}

TEST(Service, StatusOfTheLoadBalancer) {
  const char* balanced = R"({"spec":{"type":"LoadBalancer","ports":[{"port":80}]}})";
  const auto errors = [](const char* before, std::string_view ingress) {
    const std::string after =
        fmt::format(R"({{"spec":{{"type":"LoadBalancer"}},"status":{{"loadBalancer":{{"ingress":[{}]}}}}}})", ingress);
    return StatusErrors(ServiceResource({}), before, after);
  };
  EXPECT_EQ(errors(balanced, R"({"ip":"10.1.1.1"},{"hostname":"a.example"})"), Strings());
  EXPECT_EQ(errors(balanced, R"({"ip":"010.1.1.1"},{"hostname":"127.0.0.1"})"),
            (Strings{std::string("status.loadBalancer.ingress[0].ip: Invalid value: \"010.1.1.1\": ") + kZeros,
                     "status.loadBalancer.ingress[1].hostname: Invalid value: \"127.0.0.1\": must be a DNS name, not "
                     "an IP address"}));
  EXPECT_EQ(errors(R"({"spec":{"ports":[{"port":80}]}})", R"({"ip":"10.1.1.1","ipMode":"VIP"})"),
            Strings{"status.loadBalancer.ingress: Forbidden: may only be used when `spec.type` is 'LoadBalancer'"});
}

TEST(Pod, StatusAddresses) {
  const auto errors = [](const char* before, const char* after) {
    return StatusErrors(PodResource({}), fmt::format(R"({{"status":{{{}}}}})", before),
                        fmt::format(R"({{"status":{{{}}}}})", after));
  };
  EXPECT_EQ(errors("", R"("podIP":"10.1.1.1","podIPs":[{"ip":"10.1.1.1"},{"ip":"fd00::1"}])"), Strings());
  EXPECT_EQ(errors("", R"("podIP":"127.0.0.1")"), Strings()) << "as in the reference; only the proxy refuses it";
  EXPECT_EQ(errors("", R"("podIP":"::ffff:127.0.0.1")"),
            Strings{std::string("status.podIPs[0]: Invalid value: \"::ffff:127.0.0.1\": ") + kMapped});
  EXPECT_EQ(errors("", R"("podIPs":[{"ip":"0127.0.0.1"}])"),
            Strings{std::string("status.podIPs[0]: Invalid value: \"0127.0.0.1\": ") + kZeros});
  EXPECT_EQ(errors(R"("podIPs":[{"ip":"0127.0.0.1"}])", R"("podIPs":[{"ip":"0127.0.0.1"}])"), Strings());
  EXPECT_EQ(
      errors("", R"("podIPs":[{"ip":"10.0.0.1"},{"ip":"10.0.0.2"}])"),
      Strings{
          R"(status.podIPs: Invalid value: [{"IP":"10.0.0.1"},{"IP":"10.0.0.2"}]: may specify no more than one IP for each IP family)"});
  EXPECT_EQ(errors("", R"("hostIP":"10.0.0.1","hostIPs":[{"ip":"10.0.0.2"}])"),
            Strings{"status.hostIPs[0].ip: Invalid value: \"10.0.0.2\": must be equal to `hostIP`"});
}

TEST(Pod, BothAddressFieldsAgree) {
  registry::Resource resource = PodResource({});
  const auto synced = [&resource](const char* status) {
    meta::Object pod = Parse(fmt::format(R"({{"status":{}}})", status));
    SubresourceOf(resource, "status").strategy->Default(pod.Root());
    return JsonAt(pod, "status", "podIP") + JsonAt(pod, "status", "podIPs");
  };
  EXPECT_EQ(synced(R"({"podIP":"10.0.0.1"})"), R"("10.0.0.1"[{"ip":"10.0.0.1"}])");
  EXPECT_EQ(synced(R"({"podIPs":[{"ip":"10.0.0.1"}]})"), R"("10.0.0.1"[{"ip":"10.0.0.1"}])");
  EXPECT_EQ(synced(R"({"podIP":"10.0.0.2","podIPs":[{"ip":"10.0.0.1"},{"ip":"fd00::1"}]})"),
            R"("10.0.0.2"[{"ip":"10.0.0.2"}])");
}

TEST(Node, HasEachAddressOnce) {
  const char* twice =
      R"({"status":{"addresses":[{"type":"InternalIP","address":"127.0.0.1"},{"type":"InternalIP","address":"127.0.0.1"}]}})";
  EXPECT_EQ(UpdateErrors(NodeResource({}), twice, twice),
            Strings{R"(status.addresses[1]: Duplicate value: {"Type":"InternalIP","Address":"127.0.0.1"})"});
}

}  // namespace
}  // namespace apimesh::core_api
