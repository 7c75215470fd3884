#include "services/launcher/mesh/mesh_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace apimesh::launcher {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
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

TEST(ValidateTogether, SaysAllThatIsMissingAtOnce) {
  const auto errors = ValidateTogether(ParseKubeApiserverFlags({}));
  EXPECT_THAT(errors, Contains("--etcd-servers must be specified"));
  EXPECT_THAT(errors, Contains("service-account-issuer is a required flag"));
}

TEST(ValidateTogether, NamesTheValuesOfTlsRecords) {
  EXPECT_THAT(ValidateTogether(ParseKubeApiserverFlags({"--tls-records=kernel"})), Contains(HasSubstr("--tls-records invalid, allowed values: own, openssl")));
  for (const char* good : {"--tls-records=own", "--tls-records=openssl"}) {
    EXPECT_THAT(ValidateTogether(ParseKubeApiserverFlags({good})), Not(Contains(HasSubstr("tls-records")))) << good;
  }
}

TEST(ValidateTogether, NamesAFileThatCannotBeRead) {
  EXPECT_THAT(ValidateTogether(ParseKubeApiserverFlags({"--client-ca-file=/does/not/exist"})),
              Contains(HasSubstr("--client-ca-file: open /does/not/exist")));
}

}  // namespace
}  // namespace apimesh::launcher
