#include "lib/service/stores/overrides.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace apimesh::service {
namespace {

TEST(Overrides, NameAResourceAndItsServers) {
  const auto parsed = ParseOverrides({"/events#http://a:1;http://b:2", "apps/deployments#unix:/c"});
  ASSERT_EQ(parsed.size(), 2u);
  EXPECT_EQ(parsed[0].resource, (meta::GroupResource{"", "events"}));
  EXPECT_THAT(parsed[0].servers, ::testing::ElementsAre("http://a:1", "http://b:2"));
  EXPECT_EQ(parsed[1].resource, (meta::GroupResource{"apps", "deployments"}));
}

TEST(Overrides, RefuseEverythingElse) {
  for (const char* text : {"", "events#http://a:1", "/events", "/events#", "/events#http://a:1;", "a/b/c#http://a:1",
                           "/events#http://a:1#x"}) {
    EXPECT_THROW(ParseOverrides({text}), std::invalid_argument) << text;
  }
}

}  // namespace
}  // namespace apimesh::service
