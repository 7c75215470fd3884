#include "lib/meta/equal.h"

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

namespace apimesh::meta {
namespace {

TEST(Equal, ComparesDocuments) {
  const struct {
    const char* a;
    const char* b;
    bool equal;
  } cases[] = {
      {R"({"a":1,"b":[{"c":null}]})", R"({"b":[{"c":null}],"a":1})", true},
      {R"({"a":1})", R"({"a":2})", false},
      {R"({"a":1})", R"({"b":1})", false},
      {R"({"a":1})", R"({"a":1,"b":1})", false},
      {"[1,2]", "[2,1]", false},
      {"[1]", "[1,1]", false},
      {"{}", "[]", false},
      {"[]", "1", false},
      {"\"a\"", "\"a\"", true},
      {"null", "null", true},
  };
  for (const auto& one : cases)
    EXPECT_EQ(Equal(json::parse(one.a), json::parse(one.b)), one.equal) << one.a << " " << one.b;
  const json::value value = 1;
  EXPECT_TRUE(Equal(static_cast<const json::value*>(nullptr), static_cast<const json::value*>(nullptr)));
  EXPECT_FALSE(Equal(&value, static_cast<const json::value*>(nullptr)));
}

TEST(SameText, ComparesNumbersByTheirValue) {
  EXPECT_TRUE(SameText(json::parse(R"({"a":[1,-2]})"), json::parse(R"({"a":[1.0,-2.0]})")));
  EXPECT_FALSE(Equal(json::parse(R"({"a":[1,-2]})"), json::parse(R"({"a":[1.0,-2.0]})")));
  EXPECT_FALSE(SameText(json::parse("1"), json::parse("1.5")));
  EXPECT_FALSE(SameText(json::parse("1"), json::parse("\"1\"")));
}

TEST(Equal, TakesNoMemoryForDeepDocuments) {
  json::value deep = json::string(1'000'000, 'x');
  for (int i = 0; i < 900; ++i) deep = json::object{{"a", std::move(deep)}};
  EXPECT_TRUE(Equal(deep, deep));
}

}  // namespace
}  // namespace apimesh::meta
