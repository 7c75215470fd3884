#include "services/launcher/mesh/flag_values.h"

#include <gtest/gtest.h>

namespace apimesh::launcher {
namespace {

TEST(ShownValue, HasTheFormOfKubeApiserver) {
  const CommandLine flags = ParseKubeApiserverFlags(
      {"--etcd-servers=http://a", "--etcd-servers=http://b,http://c", "--event-ttl=90m", "--profiling=false",
       "--feature-gates=A=true,B=false", "--secure-port=7443", "--tls-sni-cert-key=a.crt,a.key"});
  ASSERT_EQ(flags.error, "");
  const auto shown = [&flags](std::string_view name) { return ShownValue(flags, *FindKubeApiserverFlag(name)); };
  EXPECT_EQ(shown("etcd-servers"), "[http://a,http://b,http://c]");
  EXPECT_EQ(shown("event-ttl"), "1h30m0s");
  EXPECT_EQ(shown("profiling"), "false");
  EXPECT_EQ(shown("feature-gates"), "A=true,B=false");
  EXPECT_EQ(shown("secure-port"), "7443");
  EXPECT_EQ(shown("tls-sni-cert-key"), "[a.crt,a.key]");
  EXPECT_EQ(shown("request-timeout"), "1m0s");
  EXPECT_EQ(shown("admission-control"), "[]");
  EXPECT_EQ(shown("oidc-signing-algs"), "[RS256]");
  EXPECT_EQ(shown("runtime-config"), "");
  EXPECT_EQ(shown("version"), "false");
}

}  // namespace
}  // namespace apimesh::launcher
