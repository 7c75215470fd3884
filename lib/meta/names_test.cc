#include "lib/meta/names.h"

#include <gtest/gtest.h>

#include "lib/meta/time.h"
#include "lib/meta/uuid.h"

namespace apimesh::meta {
namespace {

const std::string kSubdomain =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end "
    "with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

TEST(Names, Subdomains) {
  for (const char* good : {"a", "a.b", "a-1.b--c.0", "0"}) EXPECT_EQ(CheckDnsSubdomain(good), Complaints{}) << good;
  for (const char* bad : {"", "A", "a.", ".a", "a..b", "-a", "a-", "a_b", "a b"}) {
    EXPECT_EQ(CheckDnsSubdomain(bad), Complaints{kSubdomain}) << bad;
  }
  EXPECT_EQ(CheckDnsSubdomain(std::string(254, 'a')), Complaints{"must be no more than 253 characters"});
}

TEST(Names, Labels) {
  EXPECT_EQ(CheckDnsLabel("a.b"), Complaints{"must not contain dots"});
  EXPECT_EQ(CheckDnsLabel(std::string(64, 'a')), Complaints{"must be no more than 63 characters"});
  EXPECT_EQ(CheckDnsLabel("A").size(), 1u);
  EXPECT_EQ(CheckDns1035Label("1a").size(), 1u);
  EXPECT_EQ(CheckDns1035Label("a1"), Complaints{});
}

TEST(Names, QualifiedNames) {
  for (const char* good : {"a", "A.b_c-d", "example.com/X", "1"})
    EXPECT_EQ(CheckQualifiedName(good), Complaints{}) << good;
  EXPECT_EQ(CheckQualifiedName("/a"), Complaints{"prefix part must be non-empty"});
  EXPECT_EQ(CheckQualifiedName("A/a"), Complaints{"prefix part " + kSubdomain});
  EXPECT_EQ(CheckQualifiedName("a/").size(), 2u);
  EXPECT_EQ(CheckQualifiedName("a/b/c").size(), 1u);
  EXPECT_EQ(CheckQualifiedName(std::string(64, 'a')), Complaints{"name part must be no more than 63 bytes"});
  EXPECT_EQ(CheckLabelValue(""), Complaints{});
  EXPECT_EQ(CheckLabelValue(std::string(64, 'a')), Complaints{"must be no more than 63 bytes"});
}

TEST(Names, PathSegmentsKeysAndPorts) {
  EXPECT_EQ(CheckPathSegment(".."), Complaints{"may not be '..'"});
  EXPECT_EQ(CheckPathSegment("..", true), Complaints{});
  EXPECT_EQ(CheckPathSegment("a/b%"), (Complaints{"may not contain '/'", "may not contain '%'"}));
  EXPECT_EQ(CheckConfigMapKey("..a"), Complaints{"must not start with '..'"});
  EXPECT_EQ(CheckConfigMapKey("a/b").size(), 1u);
  EXPECT_EQ(CheckPortName("80"), Complaints{"must contain at least one letter (a-z)"});
  EXPECT_EQ(CheckPortNumber(0), Complaints{"must be between 1 and 65535, inclusive"});
  EXPECT_EQ(NameIsDnsSubdomain("web-", true), Complaints{});
  EXPECT_EQ(NameIsDnsSubdomain("web-", false), Complaints{kSubdomain});
}

TEST(Names, GeneratedNamesUseTheAlphabet) {
  EXPECT_EQ(GenerateName("web-", [] { return 0ull; }), "web-bbbbb");
  EXPECT_EQ(GenerateName(std::string(80, 'a')).size(), 63u);
  const std::string name = GenerateName("x-");
  EXPECT_EQ(name.find_first_not_of("bcdfghjklmnpqrstvwxz2456789", 2), std::string::npos) << name;
}

TEST(Uuid, IsVersionFour) {
  EXPECT_EQ(NewUuid([] { return ~0ull; }), "ffffffff-ffff-4fff-bfff-ffffffffffff");
  EXPECT_EQ(NewUuid([] { return 0ull; }), "00000000-0000-4000-8000-000000000000");
  EXPECT_NE(NewUuid(), NewUuid());
}

TEST(Time, FormatsAndParses) {
  const auto time = ParseTime("2026-11-16T03:06:27.123456Z");
  ASSERT_TRUE(time);
  EXPECT_EQ(FormatTime(*time), "2026-11-16T03:06:27Z");
  EXPECT_EQ(FormatMicroTime(*time), "2026-11-16T03:06:27.123456Z");
  EXPECT_EQ(FormatTime(*ParseTime("2026-01-01T00:30:00+01:00")), "2025-12-31T23:30:00Z");
  EXPECT_EQ(FormatTime(*ParseTime("1969-12-31T23:59:59.5Z")), "1969-12-31T23:59:59Z");
  for (const char* bad :
       {"", "2026", "2026-13-01T00:00:00Z", "2026-02-30T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T00:00:00",
        "2026-01-01 00:00:00Z", "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00Zx"}) {
    EXPECT_FALSE(ParseTime(bad)) << bad;
  }
}

TEST(Time, HumanDurations) {
  using namespace std::chrono_literals;
  const std::pair<std::chrono::seconds, std::string> cases[] = {
      {-3s, "<invalid>"},  {-1s, "0s"},       {0s, "0s"},           {119s, "119s"},         {120s, "2m"},
      {150s, "2m30s"},     {10min, "10m"},    {179min, "179m"},     {180min, "3h"},         {181min, "3h1m"},
      {8h, "8h"},          {47h, "47h"},      {48h, "2d"},          {24h * 3 + 5h, "3d5h"}, {24h * 8, "8d"},
      {24h * 729, "729d"}, {24h * 730, "2y"}, {24h * 800, "2y70d"}, {24h * 365 * 8, "8y"},
  };
  for (const auto& [duration, text] : cases) EXPECT_EQ(HumanDuration(duration), text);
}

}  // namespace
}  // namespace apimesh::meta
