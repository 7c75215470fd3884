#include "services/aggregator/edge/target.h"

#include <gtest/gtest.h>

namespace apimesh::aggregator {
namespace {

TEST(ParseTarget, TakesApart) {
  const auto target = ParseTarget("/api/v1/a%20b?x=%2F");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->path, "/api/v1/a b");
  EXPECT_EQ(target->query, "x=%2F");
  EXPECT_EQ(ParseTarget("http://host/x?y")->path, "/x");
  EXPECT_EQ(ParseTarget("https://host")->path, "/");
  for (const char* bad : {"", "x", "*", "/a/../b", "/..", "/a/%2e", "/%", "/a#b", "/a%0ab", "host:443"})
    EXPECT_FALSE(ParseTarget(bad)) << bad;
}

TEST(ParseTarget, RefusesInvalidUtf8) {
  EXPECT_EQ(ParseTarget("/a/%C3%A9")->path, "/a/\xC3\xA9");
  EXPECT_EQ(ParseTarget("/a/\xC3\xA9")->path, "/a/\xC3\xA9") << "raw bytes may be UTF-8, too";
  EXPECT_TRUE(ParseTarget("/%F0%9F%98%80"));
  for (const char* bad : {"/%ff", "/\xff", "/a/%C3", "/a/%C3/b", "/%C0%AF", "/%ED%A0%80", "/%F4%90%80%80", "/%80"}) {
    EXPECT_FALSE(ParseTarget(bad)) << bad;
  }
}

}  // namespace
}  // namespace apimesh::aggregator
