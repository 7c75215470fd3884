#include <fmt/format.h>
#include <gtest/gtest.h>

#include "lib/base/ip_address.h"
#include "lib/testing/system_clock.h"
#include "services/core-api/connect/kubelets.h"
#include "services/core-api/connect/proxy.h"
#include "services/core-api/groups/core/pod/connect/container.h"
#include "services/core-api/groups/testing.h"

namespace apimesh::core_api {
namespace {

TEST(Kubelets, ArePreferredByAddressType) {
  const meta::Object node = testing::Parse(
      R"({"status":{"addresses":[{"type":"InternalIP","address":"10.0.0.1"},{"type":"Hostname","address":"n1"}],
          "daemonEndpoints":{"kubeletEndpoint":{"Port":1234}}}})");
  EXPECT_EQ(KubeletAddress(node, {"Hostname", "InternalIP"})->Url(), "https://n1:1234");
  EXPECT_EQ(KubeletAddress(node, {"ExternalIP", "InternalIP"})->Url(), "https://10.0.0.1:1234");
  EXPECT_EQ(KubeletAddress(node, {"ExternalIP"}).error().Message(),
            "no preferred addresses found; known addresses: [{InternalIP 10.0.0.1} {Hostname n1}]");
  const meta::Object bare = testing::Parse(R"({"status":{"addresses":[{"type":"InternalIP","address":"fd00::1"}]}})");
  EXPECT_EQ(KubeletAddress(bare, {"InternalIP"})->Url(), "https://[fd00::1]:10250");
}

TEST(Proxy, NamesHaveSchemesAndPorts) {
  EXPECT_EQ(ParseProxiedName("a")->name, "a");
  EXPECT_EQ(ParseProxiedName("a:80")->port, "80");
  EXPECT_EQ(ParseProxiedName("https:a:x")->scheme, "https");
  EXPECT_EQ(ParseProxiedName("https:a:")->port, "");
  for (const char* bad : {"", "ftp:a:1", "a:b:c:d", ":80"}) EXPECT_FALSE(ParseProxiedName(bad)) << bad;
}

TEST(Proxy, NeverConnectsToTheServersOwnMachine) {
  for (const char* ip : {"10.1.2.3", "fd00::1", "8.8.8.8"}) EXPECT_TRUE(IsProxyable(ip)) << ip;
  for (const char* ip :
       {"127.0.0.1", "::1", "169.254.1.1", "fe80::1", "224.0.0.1", "0.0.0.0", "", "x", "::ffff:127.0.0.1",
        "::127.0.0.1", "2002:7f00:1::", "64:ff9b::7f00:1", "0127.0.0.1", "127.1"}) {
    EXPECT_FALSE(IsProxyable(ip)) << ip;
  }
  EXPECT_FALSE(ForProxies({.clock = apimesh::testing::SystemClock()}).allow_address(*ParseIp("::ffff:127.0.0.1")));
}

TEST(Kubelets, HaveHostsThatAreOnlyHosts) {
  for (const char* host : {"evil.example/path?", "a@b", "a#", "", "a b", "10.0.0.1:80", "fe80::1%eth0"}) {
    const std::string json =
        std::string(R"({"status":{"addresses":[{"type":"Hostname","address":")") + host + R"("}]}})";
    const auto address = KubeletAddress(testing::Parse(json), {"Hostname"});
    ASSERT_FALSE(address) << host;
    EXPECT_EQ(address.error().Message(), fmt::format("lookup {}: no such host", host));
  }
}

TEST(ContainerOf, TakesTheOnlyOne) {
  const meta::Object one = testing::Parse(
      R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"a"}],"initContainers":[{"name":"i"}]}})");
  EXPECT_EQ(*ContainerOf(one, ""), "a");
  EXPECT_EQ(*ContainerOf(one, "i"), "i");
  EXPECT_EQ(ContainerOf(one, "x").error().Message(), "container x is not valid for pod p");
  const meta::Object two = testing::Parse(
      R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"a"},{"name":"b"}],"initContainers":[{"name":"i"}]}})");
  EXPECT_EQ(ContainerOf(two, "").error().Message(),
            "a container name must be specified for pod p, choose one of: [i a b]");
}

}  // namespace
}  // namespace apimesh::core_api
