#include "lib/meta/selectors/selector.h"

#include <gtest/gtest.h>

namespace apimesh::meta {
namespace {

TEST(LabelSelector, PrintsCanonically) {
  const std::pair<std::string, std::string> cases[] = {
      {"", ""},
      {"a=b", "a=b"},
      {"b=c , a == d", "a=d,b=c"},
      {"x in (foo,,baz),y,z notin ()", "x in (,baz,foo),y,z!="},
      {"!a,b!=c", "!a,b!=c"},
      {"a>1,b<2", "a>1,b<2"},
      {"in in (in),notin", "in=in,notin"},
      {"x=", "x="},
      {"x in (,a)", "x in (,a)"},
      {"example.com/x=y", "example.com/x=y"},
  };
  for (const auto& [text, canonical] : cases) {
    const Result<LabelSelector> selector = LabelSelector::Parse(text);
    ASSERT_TRUE(selector) << text << ": " << selector.error().Message();
    EXPECT_EQ(selector->ToString(), canonical) << text;
    EXPECT_EQ(LabelSelector::Parse(canonical)->ToString(), canonical) << text;
  }
}

std::string Repeat(std::size_t count, const std::string& item) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += (i == 0 ? "" : ",") + item;
  return text;
}

TEST(Selectors, HaveLimits) {
  EXPECT_TRUE(LabelSelector::Parse(Repeat(1000, "!a")));
  EXPECT_TRUE(LabelSelector::Parse("a in (" + Repeat(10'000, "b") + ")"));
  EXPECT_TRUE(LabelSelector::Parse(Repeat(999, "b!=c") + ",a in (" + Repeat(9000, "b") + ")"));
  EXPECT_TRUE(FieldSelector::Parse(Repeat(1000, "a=b")));
  const std::string large = "a label selector has more than 1000 requirements or 10000 values";
  const std::pair<std::string, std::string> cases[] = {
      {Repeat(1001, "!a"), large},
      {Repeat(100'000, "a"), large},
      {"a in (" + Repeat(10'001, "b") + ")", "unable to parse requirement: " + large},
      {"a in (" + Repeat(100'000, "") + ")", "unable to parse requirement: " + large},
  };
  for (const auto& [text, error] : cases) {
    const Result<LabelSelector> selector = LabelSelector::Parse(text);
    ASSERT_FALSE(selector) << text.substr(0, 20);
    EXPECT_EQ(selector.error().Message(), error) << text.substr(0, 20);
  }
  const Result<FieldSelector> fields = FieldSelector::Parse(Repeat(1001, "a=b"));
  ASSERT_FALSE(fields);
  EXPECT_EQ(fields.error().Message(), "a field selector has more than 1000 terms");
}

TEST(LabelSelector, ComplainsAsTheReferenceDoes) {
  const std::string name =
      "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
      "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
      "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
  const std::string value =
      "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start "
      "and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation "
      "is "
      "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
  const std::pair<std::string, std::string> cases[] = {
      {"x=a||y=b", "unable to parse requirement: values[0][x]: Invalid value: \"a||y\": " + value},
      {"a=b=c", "found '=', expected: ',' or 'end of string'"},
      {"a,", "found '', expected: identifier after ','"},
      {"=a", "found '=', expected: !, identifier, or 'end of string'"},
      {"!", "unable to parse requirement: found '', expected: identifier"},
      {"a in b", "unable to parse requirement: found 'b' expected: '('"},
      {"a in (b", "unable to parse requirement: found '', expected: ',' or ')'"},
      {"a in (=)", "unable to parse requirement: found '=', expected: ',', ')' or identifier"},
      {"a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"},
      {"!a=b", "found '=', expected: ',' or 'end of string'"},
      {"a_=b", "unable to parse requirement: <nil>: Invalid value: \"a_\": name part " + name},
      {"a>x",
       "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an "
       "integer"},
      {"a=(", "unable to parse requirement: found '(', expected: identifier"},
  };
  for (const auto& [text, error] : cases) {
    const Result<LabelSelector> selector = LabelSelector::Parse(text);
    ASSERT_FALSE(selector) << text;
    const std::string message = selector.error().Message();
    if (text == "x=a||y=b") {
      EXPECT_TRUE(message.starts_with("found '=', expected") || message == error) << message;
    } else {
      EXPECT_EQ(message, error) << text;
    }
    EXPECT_EQ(selector.error().Code(), 400);
  }
}

TEST(LabelSelector, Matches) {
  const Labels labels = {{"app", "web"}, {"empty", ""}, {"n", "5"}};
  const std::pair<std::string, bool> cases[] = {
      {"", true},     {"app=web", true}, {"app!=web", false}, {"app in (db,web)", true}, {"x notin (a)", true},
      {"x", false},   {"!x", true},      {"empty", true},     {"empty=", true},          {"n>4", true},
      {"n>5", false}, {"n<6", true},     {"app>1", false},    {"app=web,n=6", false},    {"x!=a", true},
  };
  for (const auto& [text, matches] : cases) EXPECT_EQ(LabelSelector::Parse(text)->Matches(labels), matches) << text;
}

TEST(LabelSelector, FromObject) {
  const auto parse = [](std::string_view text) {
    return LabelSelector::FromObject(boost::json::parse(text).as_object());
  };
  EXPECT_EQ(
      parse(R"({"matchLabels":{"b":"c","a":"d"},"matchExpressions":[{"key":"k","operator":"NotIn","values":["y","x"]},
                     {"key":"e","operator":"Exists"}]})")
          ->ToString(),
      "a=d,b=c,e,k notin (x,y)");
  EXPECT_TRUE(parse("{}")->Empty());
  EXPECT_EQ(parse(R"({"matchExpressions":[{"key":"k","operator":"Foo"}]})").error().Message(),
            "\"Foo\" is not a valid label selector operator");
  EXPECT_EQ(parse(R"({"matchExpressions":[{"key":"k","operator":"In"}]})").error().Message(),
            "values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty");
}

TEST(FieldSelector, ParsesPrintsAndMatches) {
  const std::pair<std::string, std::string> cases[] = {
      {"", ""},
      {"b=2,a==1", "a=1,b=2"},
      {"metadata.name!=x", "metadata.name!=x"},
      {"a=\\,\\=\\\\", "a=\\,\\=\\\\"},
      {",,a=b,", "a=b"},
      {"=x", "=x"},
  };
  for (const auto& [text, canonical] : cases) {
    const Result<FieldSelector> selector = FieldSelector::Parse(text);
    ASSERT_TRUE(selector) << text;
    EXPECT_EQ(selector->ToString(), canonical) << text;
  }
  const FieldSelector selector = *FieldSelector::Parse("metadata.name=x,spec.nodeName!=n");
  const auto lookup = [](std::string_view field) { return std::string_view(field == "metadata.name" ? "x" : "other"); };
  EXPECT_TRUE(selector.Matches(lookup));
  ASSERT_NE(selector.RequiresExactMatch("metadata.name"), nullptr);
  EXPECT_EQ(*selector.RequiresExactMatch("metadata.name"), "x");
  EXPECT_EQ(selector.RequiresExactMatch("spec.nodeName"), nullptr);
}

TEST(FieldSelector, ComplainsAsTheReferenceDoes) {
  const std::pair<std::string, std::string> cases[] = {
      {"a", "invalid selector: 'a'; can't understand 'a'"},
      {"a=b=c", "invalid field selector: unescaped character in value: 61"},
      {"a=\\x", "invalid field selector: invalid escape sequence: \\x"},
      {"a=\\", "invalid field selector: invalid escape sequence: \\"},
  };
  for (const auto& [text, error] : cases) EXPECT_EQ(FieldSelector::Parse(text).error().Message(), error) << text;
}

}  // namespace
}  // namespace apimesh::meta
