#include "services/launcher/mesh/mesh_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace apimesh::launcher {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

const Paths kPaths{.binaries = "/bin", .sockets = "/run/s"};

const ChildSpec& Named(const std::vector<ChildSpec>& children, std::string_view name) {
  return *std::find_if(children.begin(), children.end(), [&](const ChildSpec& child) { return child.name == name; });
}

TEST(PlanServices, PassesAFlagToTheServicesThatActOnIt) {
  const auto children =
      PlanServices(ParseKubeApiserverFlags({"--token-auth-file=t.csv", "--etcd-servers=http://e"}), kPaths, false);
  EXPECT_THAT(Named(children, "authn-authz").arguments, Contains("--token-auth-file=t.csv"));
  EXPECT_THAT(Named(children, "core-api").arguments, Not(Contains("--token-auth-file=t.csv")));
  for (const char* name : {"core-api", "extensions-api", "aggregator"}) {
    EXPECT_THAT(Named(children, name).arguments, Contains("--etcd-servers=http://e")) << name;
  }
}

TEST(PlanServices, GivesAdmissionPluginsToAllServersOfResources) {
  const auto children =
      PlanServices(ParseKubeApiserverFlags({"--enable-admission-plugins=NodeRestriction"}), kPaths, false);
  for (const char* name : {"core-api", "extensions-api", "aggregator"}) {
    EXPECT_THAT(Named(children, name).arguments, Contains("--enable-admission-plugins=NodeRestriction")) << name;
  }
}

TEST(PlanServices, PassesTheLastValueOfAFlagAndAllElementsOfAList) {
  const auto children =
      PlanServices(ParseKubeApiserverFlags({"--event-ttl=1h", "--event-ttl=2h", "--authorization-mode=Node",
                                            "--authorization-mode=RBAC", "--api-audiences="}),
                   kPaths, false);
  const std::vector<std::string>& core = Named(children, "core-api").arguments;
  EXPECT_THAT(core, Contains("--event-ttl=2h"));
  EXPECT_THAT(core, Not(Contains("--event-ttl=1h")));
  EXPECT_THAT(core, Not(Contains("--api-audiences=")));
  EXPECT_THAT(core, Contains("--authorization-mode=Node"));
  EXPECT_THAT(core, Contains("--authorization-mode=RBAC"));
}

TEST(PlanServices, LeavesDefaultsToTheServicesWhichReadThemFromTheSameTable) {
  const auto children = PlanServices(ParseKubeApiserverFlags({"--secure-port=7443"}), kPaths, false);
  for (const char* name : {"core-api", "aggregator"}) {
    EXPECT_THAT(Named(children, name).arguments, Contains("--secure-port=7443").Times(1)) << name;
  }
  EXPECT_THAT(Named(children, "authn-authz").arguments, Not(Contains(HasSubstr("authorization-mode"))));
}

TEST(PlanServices, LinksTheChainBySockets) {
  const auto children = PlanServices(ParseKubeApiserverFlags({}), kPaths, false);
  EXPECT_THAT(Named(children, "core-api").arguments, Contains("--listen=unix:/run/s/core-api.sock"));
  EXPECT_THAT(Named(children, "core-api").arguments, Contains("--extensions-api=unix:/run/s/extensions-api.sock"));
  EXPECT_THAT(Named(children, "aggregator").arguments, Contains("--core-api=unix:/run/s/core-api.sock"));
}

TEST(PlanServices, GivesEnvoyADoorOfItsOwnWhereThereIsOne) {
  for (const std::string listener :
       {"--front-proxy-socket=unix:/run/s/edge.sock", "--front-proxy-h2-socket=unix:/run/s/edge-h2.sock"}) {
    EXPECT_THAT(Named(PlanServices(ParseKubeApiserverFlags({}), kPaths, true), "aggregator").arguments,
                Contains(listener));
    EXPECT_THAT(Named(PlanServices(ParseKubeApiserverFlags({}), kPaths, false), "aggregator").arguments,
                Not(Contains(listener)));
  }
}

}  // namespace
}  // namespace apimesh::launcher
