// The complete table of rules is tests/differential/start_options.py, which is compared with the real kube-apiserver.
// These tests check the order of the steps, the joining of errors, and rules with many cases.
#include "services/launcher/options/check_options.h"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/launcher/options/advertise_address.h"
#include "services/launcher/options/feature_gates.h"
#include "services/launcher/options/rules.h"
#include "services/launcher/pki/certificate_folder.h"

namespace apimesh::launcher {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::vector<std::string> Errors(void (*rule)(const CommandLine&, Findings&),
                                const std::vector<std::string>& arguments) {
  Findings findings;
  rule(ParseKubeApiserverFlags(arguments), findings);
  return findings.errors;
}

TEST(CheckOptions, SaysAllThatIsMissingAtOnce) {
  const std::vector<std::string> errors = CheckOptions(ParseKubeApiserverFlags({})).errors;
  EXPECT_THAT(errors, Contains("--etcd-servers must be specified"));
  EXPECT_THAT(errors, Contains("service-account-issuer is a required flag"));
}

TEST(CheckOptions, StopsAtTheFirstErrorOfCompletion) {
  const auto errors =
      CheckOptions(ParseKubeApiserverFlags({"--feature-gates=Nope=true", "--service-cluster-ip-range=nope"})).errors;
  EXPECT_THAT(errors, ElementsAre("unrecognized feature gate: Nope"));
}

TEST(Aggregate, ShowsEachErrorOnce) {
  EXPECT_EQ(Aggregate({"a"}), "a");
  EXPECT_EQ(Aggregate({"a", "b", "a"}), "[a, b]");
  EXPECT_EQ(Aggregate({"a", "a"}), "a");
}

TEST(ValidateTokenSigning, ChecksNamesOfAbstractSockets) {
  const auto errors = [](const std::string& endpoint) {
    return Errors(&ValidateTokenSigning, {"--service-account-signing-endpoint=" + endpoint});
  };
  for (const char* good : {"/run/signer.sock", "signer.sock", "@signer", "@a.b-c_D.9"}) {
    EXPECT_THAT(errors(good), IsEmpty()) << good;
  }
  for (const char* bad : {"@", "@a/b", "@a..b", "@.a", "@a.", "@a b"}) {
    EXPECT_THAT(errors(bad), ElementsAre(HasSubstr("must be a valid abstract socket name"))) << bad;
  }
  EXPECT_THAT(Errors(&ValidateTokenSigning, {"--service-account-signing-endpoint=a", "--service-account-key-file=b"}),
              ElementsAre(HasSubstr("mutually exclusive")));
}

TEST(ValidateAuthentication, ComparesTheCertificateAuthorities) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "authorities";
  std::filesystem::create_directories(folder);
  const auto authority = [&](const std::string& name) {
    const std::string path = folder / name;
    WriteFile(path, NewAuthority(name, std::chrono::hours(1)).certificate_pem, false);
    return path;
  };
  const std::string one = authority("one"), other = authority("other"), none;
  const auto find = [](const std::string& users, const std::string& proxies, const std::string& names) {
    Findings findings;
    ValidateAuthentication(
        ParseKubeApiserverFlags({"--client-ca-file=" + users, "--requestheader-client-ca-file=" + proxies,
                                 "--requestheader-allowed-names=" + names}),
        findings);
    return findings;
  };
  const auto overlap = Contains(HasSubstr("contain overlapping certificates"));
  EXPECT_THAT(find(one, one, "").errors, overlap);
  EXPECT_THAT(find(one, one, "front,other").errors, Not(overlap));
  EXPECT_THAT(find(one, one, "front,other").warnings,
              Contains(HasSubstr("--requestheader-allowed-names (front, other)")));
  EXPECT_THAT(find(one, other, "front").warnings, Not(overlap));
  EXPECT_THAT(find(one, none, "front").warnings, Not(overlap));
  std::filesystem::remove_all(folder);
}

TEST(CompleteServiceRanges, ChecksSizes) {
  const struct {
    const char* range;
    bool good;
  } cases[] = {{"10.0.0.0/29", true},
               {"10.0.0.0/30", false},
               {"10.0.0.0/2", true},
               {"0.0.0.0/1", false},
               {"10.0.0.0/33", false},
               {"10.0.0.0", false},
               {"10.0.0/24", false},
               {"fd00::/112", true},
               {"fd00::/126", false},
               {"fd00::/1", false},
               {"", true},
               {"fd00::/8,", false},
               {"10.0.0.0/24,x", false},
               {"10.0.0.0/24,fd00::/112", true}};
  for (const auto& c : cases) {
    EXPECT_EQ(Errors(&CompleteServiceRanges, {std::string("--service-cluster-ip-range=") + c.range}).empty(), c.good)
        << c.range;
  }
}

TEST(UrlError, IsThatOfGo) {
  const struct {
    const char* url;
    const char* error;
  } cases[] = {{"https://issuer", ""},
               {"https://issuer:6443/a%20b?c=%", ""},
               {"https://[::1]:6443", ""},
               {"https://[::1]", ""},
               {"urn:issuer", ""},
               {"kubernetes/serviceaccount", ""},
               {":x", "parse \":x\": missing protocol scheme"},
               {"1a:b", "parse \"1a:b\": first path segment in URL cannot contain colon"},
               {"https://a:b", "parse \"https://a:b\": invalid port \":b\" after host"},
               {"https://a/%zz", "parse \"https://a/%zz\": invalid URL escape \"%zz\""},
               {"https://a b", "parse \"https://a b\": invalid character \" \" in host name"},
               {"https://a\n", "parse \"https://a\\n\": net/url: invalid control character in URL"}};
  for (const auto& c : cases) EXPECT_EQ(UrlError(c.url), c.error) << c.url;
}

TEST(FeatureEnabled, IsTheDefaultUnlessSet) {
  EXPECT_TRUE(FeatureEnabled(ParseKubeApiserverFlags({}), "RemoteRequestHeaderUID"));
  EXPECT_FALSE(
      FeatureEnabled(ParseKubeApiserverFlags({"--feature-gates=RemoteRequestHeaderUID=0"}), "RemoteRequestHeaderUID"));
  EXPECT_FALSE(FeatureEnabled(ParseKubeApiserverFlags({"--feature-gates=kube:RemoteRequestHeaderUID=f"}),
                              "RemoteRequestHeaderUID"));
  EXPECT_FALSE(FeatureEnabled(ParseKubeApiserverFlags({}), "AllAlpha"));
}

TEST(CompleteFeatureGates, ChecksNamesLocksAndDependencies) {
  const struct {
    const char* gates;
    std::vector<std::string> errors;
  } cases[] = {
      {"WatchList=false", {}},
      {"Nope=true", {"unrecognized feature gate: Nope"}},
      {"BtreeWatchCache=false", {"cannot set feature gate BtreeWatchCache to false, feature is locked to true"}},
      {"GangScheduling=true",
       {"GangScheduling is enabled, but depends on features that are disabled: [GenericWorkload]"}},
      {"GangScheduling=true,GenericWorkload=true", {}},
      {"ShardedListAndWatch=true",
       {"cannot set feature gate ShardedListAndWatch to true, this server does not implement it (set "
        "ShardedListAndWatch=false)"}},
      {"AllAlpha=true,CBORServingAndStorage=false,ManifestBasedAdmissionControlConfig=false,ShardedListAndWatch=false",
       {}},
      {"APIServerIdentity=false,StorageVersionAPI=true",
       {"[StorageVersionAPI is enabled, but depends on features that are disabled: [APIServerIdentity], "
        "UnknownVersionInteroperabilityProxy is enabled, but depends on features that are disabled: "
        "[APIServerIdentity]]"}},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(Errors(&CompleteFeatureGates, {std::string("--feature-gates=") + c.gates}), c.errors) << c.gates;
  }
}

TEST(CompleteFeatureGates, WarnsAboutGatesWithoutEffect) {
  Findings findings;
  CompleteFeatureGates(ParseKubeApiserverFlags({"--feature-gates=WindowsHostNetwork=true,ClusterTrustBundle=true"}),
                       findings);
  EXPECT_THAT(findings.warnings, ElementsAre(HasSubstr("no effect on this server: WindowsHostNetwork")));
  findings = {};
  CompleteFeatureGates(ParseKubeApiserverFlags({"--feature-gates=WindowsHostNetwork=false"}), findings);
  EXPECT_THAT(findings.warnings, IsEmpty());
}

TEST(ValidateVersions, RefusesVersionsThatCannotBeEmulated) {
  EXPECT_THAT(Errors(&ValidateVersions, {"--emulated-version=1.36"}), IsEmpty());
  EXPECT_THAT(Errors(&ValidateVersions, {"--min-compatibility-version=1.35"}), IsEmpty());
  EXPECT_THAT(Errors(&ValidateVersions, {"--emulated-version=1.35"}), ElementsAre(HasSubstr("is not supported")));
  EXPECT_THAT(Errors(&ValidateVersions, {"--min-compatibility-version=1.34"}),
              ElementsAre(HasSubstr("is not supported")));
}

TEST(AdvertiseAddress, PrefersWhatIsSaid) {
  EXPECT_EQ(AdvertiseAddress(ParseKubeApiserverFlags({"--advertise-address=10.1.2.3", "--bind-address=10.9.9.9"})),
            "10.1.2.3");
  EXPECT_EQ(AdvertiseAddress(ParseKubeApiserverFlags({"--advertise-address=0.0.0.0", "--bind-address=10.9.9.9"})),
            "10.9.9.9");
  EXPECT_NE(AdvertiseAddress(ParseKubeApiserverFlags({})), "0.0.0.0");
}

TEST(ValidateServing, NamesTheValuesOfTlsRecords) {
  EXPECT_THAT(Errors(&ValidateServing, {"--tls-records=kernel"}),
              ElementsAre(HasSubstr("--tls-records invalid, allowed values: own, openssl")));
  EXPECT_THAT(Errors(&ValidateServing, {"--tracing-exporter=udp"}),
              ElementsAre(HasSubstr("--tracing-exporter invalid, allowed values: grpc, http")));
  for (const char* good :
       {"--tls-records=own", "--tls-records=openssl", "--tracing-exporter=grpc", "--tracing-exporter=http"}) {
    EXPECT_THAT(Errors(&ValidateServing, {good}), IsEmpty()) << good;
  }
}

TEST(ValidateAudit, ChecksOnlyBackendsThatAreOn) {
  EXPECT_THAT(Errors(&ValidateAudit, {"--audit-log-maxage=-1", "--audit-log-mode=x"}), IsEmpty());
  EXPECT_THAT(Errors(&ValidateAudit, {"--audit-log-path=/a", "--audit-log-mode=batch", "--audit-log-batch-max-size=0"}),
              ElementsAre("invalid audit batch log max batch size 0, must be a positive number"));
  EXPECT_THAT(Errors(&ValidateAudit, {"--audit-webhook-config-file=/a", "--audit-webhook-batch-throttle-qps=0"}),
              ElementsAre("invalid audit batch webhook throttle QPS 0, must be a positive number"));
}

TEST(OpenError, IsThatOfGo) {
  EXPECT_EQ(OpenError("/does/not/exist"), "open /does/not/exist: no such file or directory");
  EXPECT_EQ(OpenError("/"), "read /: is a directory");
}

}  // namespace
}  // namespace apimesh::launcher
