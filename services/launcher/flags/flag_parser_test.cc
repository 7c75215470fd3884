#include "services/launcher/flags/flag_parser.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/launcher/flags/flag_value.h"

namespace apimesh::launcher {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Case {
  const char* name;
  std::vector<std::string> arguments;
  const char* want_error;
};
const Case kCases[] = {
    {"Nothing", {}, ""},
    {"EqualsForm", {"--secure-port=7443"}, ""},
    {"TwoWords", {"--secure-port", "7443"}, ""},
    {"BareBool", {"--allow-privileged"}, ""},
    {"Underscores", {"--secure_port=1"}, ""},
    {"Unknown", {"--nope"}, "unknown flag: --nope"},
    {"BadInt",
     {"--secure-port=abc"},
     "invalid argument \"abc\" for \"--secure-port\" flag: strconv.ParseInt: parsing \"abc\": invalid syntax"},
    {"BadBool",
     {"--anonymous-auth=maybe"},
     "invalid argument \"maybe\" for \"--anonymous-auth\" flag: strconv.ParseBool: parsing \"maybe\": invalid syntax"},
    {"BadDuration",
     {"--event-ttl=5"},
     "invalid argument \"5\" for \"--event-ttl\" flag: time: missing unit in duration \"5\""},
    {"BadIp",
     {"--bind-address=1.2.3"},
     "invalid argument \"1.2.3\" for \"--bind-address\" flag: failed to parse IP: \"1.2.3\""},
    {"MissingValue", {"--etcd-servers"}, "flag needs an argument: --etcd-servers"},
    {"Positional", {"extra"}, "\"kube-apiserver\" does not take any arguments, got [\"extra\"]"},
    {"UnknownShort", {"-x"}, "unknown shorthand flag: 'x' in -x"},
};
class KubeApiserverFlagsParse : public ::testing::TestWithParam<Case> {};

TEST_P(KubeApiserverFlagsParse, SaysWhatIsWrong) {
  EXPECT_EQ(ParseKubeApiserverFlags(GetParam().arguments).error, GetParam().want_error);
}
INSTANTIATE_TEST_SUITE_P(Table, KubeApiserverFlagsParse, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(CommandLine, GivesValuesAndDefaults) {
  const CommandLine line = ParseKubeApiserverFlags({"--etcd-servers=http://a,http://b", "--service-account-key-file=x",
                                                    "--service-account-key-file=y,z", "-v", "4", "--anonymous-auth=F"});
  ASSERT_EQ(line.error, "");
  EXPECT_THAT(line.Values("etcd-servers"), ElementsAre("http://a", "http://b"));
  EXPECT_THAT(line.Values("service-account-key-file"), ElementsAre("x", "y,z"));
  EXPECT_EQ(line.Value("v"), "4");
  EXPECT_FALSE(line.IsTrue("anonymous-auth"));
  EXPECT_EQ(line.Value("secure-port"), "6443");
}

TEST(CommandLine, TakesAnEmptyAddressOrRangeAsTheDefault) {
  const CommandLine line =
      ParseKubeApiserverFlags({"--bind-address=", "--service-cluster-ip-range=", "--service-node-port-range="});
  EXPECT_EQ(line.Value("bind-address"), "0.0.0.0");
  EXPECT_EQ(line.Value("service-cluster-ip-range"), "10.0.0.0/24");
  EXPECT_EQ(line.Value("service-node-port-range"), "30000-32767");
}

TEST(CommandLine, RefusesFlagsThatOnlyServicesTake) {
  EXPECT_EQ(ParseKubeApiserverFlags({"--listen=unix:/a"}).error, "unknown flag: --listen");
}

TEST(KubeApiserverHelp, NamesTheAuthorizationModes) {
  EXPECT_THAT(
      KubeApiserverHelp(),
      HasSubstr("asked in this order: AlwaysAllow, AlwaysDeny, ABAC, Webhook, RBAC, Node (default AlwaysAllow)\n"));
}

TEST(KubeApiserverHelp, ListsEveryFlagOnALineOfItsOwn) {
  const std::string help = KubeApiserverHelp();
  std::set<std::string_view> names;
  for (const Flag& flag : flags::KubeApiserverFlags()) {
    EXPECT_TRUE(names.insert(flag.name).second) << flag.name << " is listed twice";
    const std::string line = flag.name == "v" ? "\n  -v, --v" : "\n  --" + std::string(flag.name);
    EXPECT_THAT(help, HasSubstr(line));
  }
}

TEST(ParseGoDuration, ReadsGoSyntaxOnly) {
  EXPECT_EQ(ParseGoDuration("1m30s"), 90'000'000'000);
  EXPECT_EQ(ParseGoDuration("1h0m0s"), 3'600'000'000'000);
  EXPECT_EQ(ParseGoDuration("0"), 0);
  EXPECT_EQ(ParseGoDuration("1.5ms"), 1'500'000);
  EXPECT_EQ(ParseGoDuration("-2s"), -2'000'000'000);
  for (const char* bad : {"", "5", "s", "1x", "1m5", "99999999999h"})
    EXPECT_EQ(ParseGoDuration(bad), std::nullopt) << bad;
}

}  // namespace
}  // namespace apimesh::launcher
