#include <gtest/gtest.h>

#include "lib/codec/codec.h"

namespace apimesh::codec {
namespace {

std::string RoundTrip(std::string_view text) {
  const auto value = ParseJson(text, meta::NewArena());
  return value ? WriteJson(*value) : "error: " + value.error().Message();
}

struct Case {
  std::string in, out;
};

TEST(Json, RoundTripsInGosForm) {
  const Case cases[] = {
      {R"( { "b" : [ 1 , -2.50 , 1e3 , true , null ] , "a" : { } } )", R"({"b":[1,-2.5,1000,true,null],"a":{}})"},
      {R"("a<b>&c\u2028\u007f\u0001\b\f\/\"")", R"("a\u003cb\u003e\u0026c\u2028)"
                                                "\x7f"
                                                R"(\u0001\b\f/\"")"},
      {R"(["\ud83d\ude00","\ud800","\ud800\u0041"])",
       "[\"\xf0\x9f\x98\x80\",\"\xef\xbf\xbd\",\"\xef\xbf\xbd"
       "A\"]"},
      {"\"a\xff\"", "\"a\xef\xbf\xbd\""},
      {"[9223372036854775807,9223372036854775808,-9223372036854775808]",
       "[9223372036854775807,9223372036854776000,-9223372036854775808]"},
      {"[1e21,1e20,0.000001,0.0000001,1.5e-9,100000000000000000000]",
       "[1e+21,100000000000000000000,0.000001,1e-7,1.5e-9,100000000000000000000]"},
      {R"({"a":1,"a":2})", R"({"a":2})"},
      {"-0", "0"},
      {"[1e-400,1e308]", "[0,1e+308]"},
  };
  for (const Case& one : cases) EXPECT_EQ(RoundTrip(one.in), one.out) << one.in;
}

TEST(Json, SaysWhatIsWrongInGosWords) {
  const Case cases[] = {
      {"", "unexpected end of JSON input"},
      {"{", "unexpected end of JSON input"},
      {"{\"a\":", "unexpected end of JSON input"},
      {"{\"a\":1,}", "invalid character '}' looking for beginning of object key string"},
      {"{\"a\" 1}", "invalid character '1' after object key"},
      {"{\"a\":1 \"b\"}", "invalid character '\"' after object key:value pair"},
      {"[1 2]", "invalid character '2' after array element"},
      {"[1,]", "invalid character ']' looking for beginning of value"},
      {"{} x", "invalid character 'x' after top-level value"},
      {"tru}", "invalid character '}' in literal true (expecting 'e')"},
      {"01", "invalid character '1' after top-level value"},
      {"-x", "invalid character 'x' in numeric literal"},
      {"1.x", "invalid character 'x' after decimal point in numeric literal"},
      {"1e400", "json: cannot unmarshal number 1e400 into Go value of type float64"},
      {R"({"a":[-1E+400]})", "json: cannot unmarshal number -1E+400 into Go value of type float64"},
      {"1ex", "invalid character 'x' in exponent of numeric literal"},
      {"\"a\tb\"", "invalid character '\\t' in string literal"},
      {R"("\x")", "invalid character 'x' in string escape code"},
      {R"("\u12g4")", R"(invalid character 'g' in \u hexadecimal character escape)"},
      {"'a'", R"(invalid character '\'' looking for beginning of value)"},
      {std::string(100000, '['), "invalid character '[' exceeded max depth"},
  };
  for (const Case& one : cases) EXPECT_EQ(RoundTrip(one.in), "error: " + one.out) << one.in.substr(0, 40);
}

TEST(Json, ReportsDuplicates) {
  Strictness strict;
  std::string many = "{";
  for (int i = 0; i < 100; ++i) many += "\"k" + std::to_string(i % 60) + "\":1,";
  many += "\"end\":1}";
  ASSERT_TRUE(ParseJson(R"({"a":1,"a":2,"b":[{"c":1},{"c":1,"c":3}],"m":)" + many + "}", meta::NewArena(), &strict));
  ASSERT_EQ(strict.complaints.size(), 42u);
  EXPECT_EQ(strict.complaints[0], R"(duplicate field "a")");
  EXPECT_EQ(strict.complaints[1], R"(duplicate field "b[1].c")");
  EXPECT_EQ(strict.complaints[2], R"(duplicate field "m.k0")");
}

TEST(Json, LimitsSize) {
  ParseLimits limits;
  limits.bytes = 3;
  EXPECT_EQ(ParseJson("[1,2]", meta::NewArena(), nullptr, limits).error().Code(), 413);
}

TEST(Json, WritesPretty) {
  const auto value = ParseJson(R"({"a":{"b":[1,{}],"c":[]}})", meta::NewArena());
  EXPECT_EQ(WritePrettyJson(*value), "{\n  \"a\": {\n    \"b\": [\n      1,\n      {}\n    ],\n    \"c\": []\n  }\n}");
}

}  // namespace
}  // namespace apimesh::codec
