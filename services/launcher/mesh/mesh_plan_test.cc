#include "services/launcher/mesh/mesh_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace apimesh::launcher {
namespace {

using ::testing::Contains;
using ::testing::Not;

const Places kPlaces{.binaries = "/bin", .sockets = "/run/s"};

const ChildSpec& Named(const std::vector<ChildSpec>& children, std::string_view name) {
  return *std::find_if(children.begin(), children.end(), [&](const ChildSpec& child) { return child.name == name; });
}

TEST(PlanServices, PassesAFlagToTheServicesThatActOnIt) {
  const auto children = PlanServices(ParseKubeApiserverFlags({"--token-auth-file=t.csv", "--etcd-servers=http://e"}), kPlaces, false);
  EXPECT_THAT(Named(children, "authn-authz").arguments, Contains("--token-auth-file=t.csv"));
  EXPECT_THAT(Named(children, "core-api").arguments, Not(Contains("--token-auth-file=t.csv")));
  for (const char* name : {"core-api", "extensions-api", "aggregator"}) {
    EXPECT_THAT(Named(children, name).arguments, Contains("--etcd-servers=http://e")) << name;
  }
}

TEST(PlanServices, GivesAdmissionPluginsToAllServersOfResources) {
  const auto children = PlanServices(ParseKubeApiserverFlags({"--enable-admission-plugins=NodeRestriction"}), kPlaces, false);
  for (const char* name : {"core-api", "extensions-api", "aggregator"}) {
    EXPECT_THAT(Named(children, name).arguments, Contains("--enable-admission-plugins=NodeRestriction")) << name;
  }
}

TEST(PlanServices, PassesTheLastValueOfAFlagAndAllElementsOfAList) {
  const auto children = PlanServices(
      ParseKubeApiserverFlags({"--event-ttl=1h", "--event-ttl=2h", "--authorization-mode=Node", "--authorization-mode=RBAC", "--api-audiences="}),
      kPlaces, false);
  const std::vector<std::string>& core = Named(children, "core-api").arguments;
  EXPECT_THAT(core, Contains("--event-ttl=2h"));
  EXPECT_THAT(core, Not(Contains("--event-ttl=1h")));
  EXPECT_THAT(core, Not(Contains("--api-audiences=")));
  EXPECT_THAT(core, Contains("--authorization-mode=Node"));
  EXPECT_THAT(core, Contains("--authorization-mode=RBAC"));
}

TEST(PlanServices, LinksTheChainBySockets) {
  const auto children = PlanServices(ParseKubeApiserverFlags({}), kPlaces, false);
  EXPECT_THAT(Named(children, "core-api").arguments, Contains("--listen=unix:/run/s/core-api.sock"));
  EXPECT_THAT(Named(children, "core-api").arguments, Contains("--extensions-api=unix:/run/s/extensions-api.sock"));
  EXPECT_THAT(Named(children, "aggregator").arguments, Contains("--core-api=unix:/run/s/core-api.sock"));
  EXPECT_THAT(Named(children, "authn-authz").arguments, Contains("--authorization-mode=AlwaysAllow"));
}

TEST(PlanServices, GivesEnvoyADoorOfItsOwnWhereThereIsOne) {
  for (const std::string door : {"--front-proxy-socket=unix:/run/s/edge.sock", "--front-proxy-h2-socket=unix:/run/s/edge-h2.sock"}) {
    EXPECT_THAT(Named(PlanServices(ParseKubeApiserverFlags({}), kPlaces, true), "aggregator").arguments, Contains(door));
    EXPECT_THAT(Named(PlanServices(ParseKubeApiserverFlags({}), kPlaces, false), "aggregator").arguments, Not(Contains(door)));
  }
}

}  // namespace
}  // namespace apimesh::launcher
