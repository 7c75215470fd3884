#include "lib/base/ip_address.h"

#include <gtest/gtest.h>

namespace apimesh {
namespace {

struct ScopeCase {
  const char* text;
  IpScope scope;
};
const ScopeCase kScopes[] = {
    {"10.1.2.3", IpScope::kGlobal},
    {"192.168.0.1", IpScope::kGlobal},
    {"8.8.8.8", IpScope::kGlobal},
    {"fd00::1", IpScope::kGlobal},
    {"2001:db8::1", IpScope::kGlobal},
    {"::ffff:10.1.2.3", IpScope::kGlobal},
    {"64:ff9b::a01:203", IpScope::kGlobal},
    {"0.0.0.0", IpScope::kUnspecified},
    {"::", IpScope::kUnspecified},
    {"::ffff:0.0.0.0", IpScope::kUnspecified},
    {"127.0.0.1", IpScope::kLoopback},
    {"127.255.255.254", IpScope::kLoopback},
    {"::1", IpScope::kLoopback},
    {"0:0:0:0:0:0:0:1", IpScope::kLoopback},
    {"::ffff:127.0.0.1", IpScope::kLoopback},
    {"::FFFF:7F00:1", IpScope::kLoopback},
    {"::127.0.0.1", IpScope::kLoopback},
    {"::ffff:0:127.0.0.1", IpScope::kLoopback},
    {"64:ff9b::127.0.0.1", IpScope::kLoopback},
    {"2002:7f00:1::", IpScope::kLoopback},
    {"2002:7f00:0001::5", IpScope::kLoopback},
    {"169.254.169.254", IpScope::kLinkLocal},
    {"fe80::1", IpScope::kLinkLocal},
    {"febf::1", IpScope::kLinkLocal},
    {"::ffff:169.254.169.254", IpScope::kLinkLocal},
    {"2002:a9fe:a9fe::1", IpScope::kLinkLocal},
    {"224.0.0.1", IpScope::kLinkLocalMulticast},
    {"ff02::1", IpScope::kLinkLocalMulticast},
    {"239.1.1.1", IpScope::kMulticast},
    {"ff05::2", IpScope::kMulticast},
    {"::ffff:239.1.1.1", IpScope::kMulticast},
    {"255.255.255.255", IpScope::kBroadcast},
};

TEST(IpAddress, HasAScopeInAnyForm) {
  for (const ScopeCase& one : kScopes) {
    const std::optional<IpAddress> address = ParseIp(one.text);
    ASSERT_TRUE(address) << one.text;
    EXPECT_EQ(ScopeOf(*address), one.scope) << one.text;
    EXPECT_EQ(IsGlobalUnicast(*address), one.scope == IpScope::kGlobal) << one.text;
  }
}

TEST(IpAddress, IsRefusedWhereProgramsDisagree) {
  using std::string_literals::operator""s;
  for (const std::string& text :
       {""s, "x"s, "127.1"s, "2130706433"s, "0x7f.0.0.1"s, "0177.0.0.1"s, "010.0.0.1"s, "1.2.3.4.5"s, "1.2.3.256"s,
        "fe80::1%eth0"s, "::1%lo"s, " 10.0.0.1"s, "10.0.0.1\0.evil"s, "[::1]"s, "1:2:3:4:5:6:7:8:9"s}) {
    EXPECT_FALSE(ParseIp(text)) << text;
  }
}

TEST(IpAddress, LeadingZerosAreDecimal) {
  EXPECT_EQ(ToText(*ParseIpWithLeadingZeros("010.002.000.0127")), "10.2.0.127");
  EXPECT_EQ(ToText(*ParseIpWithLeadingZeros("::ffff:010.0.0.1")), "10.0.0.1");
  EXPECT_EQ(ScopeOf(*ParseIpWithLeadingZeros("0127.0.0.1")), IpScope::kLoopback);
  EXPECT_EQ(ToText(*ParseIpWithLeadingZeros("2001:0db8::0001")), "2001:db8::1");
  for (const char* text : {"0x10.0.0.1", "0300.0.0.1", "01.2.3", "..."})
    EXPECT_FALSE(ParseIpWithLeadingZeros(text)) << text;
}

TEST(IpAddress, HasOneCanonicalText) {
  const std::pair<const char*, const char*> kTexts[] = {{"10.0.0.1", "10.0.0.1"},
                                                        {"::", "::"},
                                                        {"::1", "::1"},
                                                        {"FD00:0:0:0:0:0:0:1", "fd00::1"},
                                                        {"2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"},
                                                        {"2001:0:0:1:0:0:0:1", "2001:0:0:1::1"},
                                                        {"1:0:0:2:0:0:3:4", "1::2:0:0:3:4"},
                                                        {"fd00::", "fd00::"},
                                                        {"::7f00:1", "::7f00:1"},
                                                        {"::ffff:1.2.3.4", "1.2.3.4"}};
  for (const auto& [text, canonical] : kTexts) EXPECT_EQ(ToText(*ParseIp(text)), canonical);
}

}  // namespace
}  // namespace apimesh
