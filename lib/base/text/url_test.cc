#include "lib/base/text/url.h"

#include <gtest/gtest.h>

namespace apimesh {
namespace {

using namespace std::string_view_literals;

TEST(Url, EncodesPaths) {
  EXPECT_EQ(EncodePath(""), "");
  EXPECT_EQ(EncodePath("/api/v1/pods/a-b_c.d~e:f@g"), "/api/v1/pods/a-b_c.d~e:f@g");
  EXPECT_EQ(EncodePath("/a b?c#d%2F\"ü"), "/a%20b%3Fc%23d%252F%22%C3%BC");
  EXPECT_EQ(EncodePath("/\0\xff"sv), "/%00%FF");
  EXPECT_EQ(EncodePath("!$&'()*+,;="), "!$&'()*+,;=");
}

TEST(Url, EncodesQueries) {
  EXPECT_EQ(EncodeQuery("aZ09-._~"), "aZ09-._~");
  EXPECT_EQ(EncodeQuery("a=b&c d+/"), "a%3Db%26c%20d%2B%2F");
}

}  // namespace
}  // namespace apimesh
