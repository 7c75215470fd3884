#include <gtest/gtest.h>

#include "lib/codec/codec.h"
#include "lib/codec/yaml_limits.h"

namespace apimesh::codec {
namespace {

std::string ToJson(std::string_view yaml, Strictness* strict = nullptr) {
  const auto value = ParseYaml(yaml, meta::NewArena(), strict);
  return value ? WriteJson(*value) : "error: " + value.error().Message();
}

TEST(Yaml, ReadsScalarsAsYaml11) {
  const struct { const char* yaml; const char* json; } cases[] = {
      {"a: yes", R"({"a":true})"},        {"a: 'yes'", R"({"a":"yes"})"},  {"a: off", R"({"a":false})"},
      {"a: ~", R"({"a":null})"},          {"a:", R"({"a":null})"},         {"a: 010", R"({"a":8})"},
      {"a: 0x1F", R"({"a":31})"},         {"a: 1_000", R"({"a":1000})"},   {"a: 1.50", R"({"a":1.5})"},
      {"a: 2001-01-01", R"({"a":"2001-01-01"})"}, {"a: 12:30:45", R"({"a":"12:30:45"})"}, {"a: !!str 5", R"({"a":"5"})"},
      {"1: x\ntrue: z", R"({"1":"x","true":"z"})"}, {"a: 1.2.3", R"({"a":"1.2.3"})"}, {"", "null"},
      {"a: |\n  x\n  y\n", R"({"a":"x\ny\n"})"}, {"- 1\n- [a, {b: c}]", R"([1,["a",{"b":"c"}]])"},
      {"{\"a\": 1, \"b\": [true]}", R"({"a":1,"b":[true]})"}, {"a: 1\n---\nb: 2\n", R"({"a":1})"},
  };
  for (const auto& one : cases) EXPECT_EQ(ToJson(one.yaml), one.json) << one.yaml;
}

TEST(Yaml, ExpandsAliasesAndMerges) {
  EXPECT_EQ(ToJson("a: &x {p: 1, q: 2}\nb: *x\nc: {<<: *x, q: 3}"), R"({"a":{"p":1,"q":2},"b":{"p":1,"q":2},"c":{"q":3,"p":1}})");
}

TEST(Yaml, RefusesBombs) {
  std::string bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
  for (int i = 1; i < 12; ++i) {
    bomb += fmt::format("a{}: &a{} [", i, i);
    for (int j = 0; j < 10; ++j) bomb += fmt::format("{}*a{}", j ? "," : "", i - 1);
    bomb += "]\n";
  }
  EXPECT_EQ(ToJson(bomb), "error: yaml: document contains excessive aliasing");
  EXPECT_TRUE(ToJson("a: &a [*a]").starts_with("error: "));
  EXPECT_TRUE(ToJson(std::string(100000, '[')).starts_with("error: "));
  EXPECT_TRUE(ToJson("a: [1").starts_with("error: yaml: line "));
  EXPECT_EQ(ToJson("a: &a " + std::string(100'000, 'x') + "\nb: [" + [] {
              std::string aliases = "*a";
              for (int i = 0; i < 1000; ++i) aliases += ", *a";
              return aliases;
            }() + "]"),
            "error: yaml: document contains excessive aliasing");
}

TEST(Yaml, CountsFlowCollectionsBeforeItReadsThem) {
  const std::string brackets(5000, '['), items = [] {
    std::string text;
    for (int i = 0; i < 120'000; ++i) text += "a,";
    return text;
  }();
  const struct { const char* name; std::string text; bool refused; } cases[] = {
      {"at the top", brackets, true},
      {"as a value", "a: " + brackets, true},
      {"as an item", "- " + brackets, true},
      {"behind a document's start", "--- " + brackets, true},
      {"behind a tag", "a: !!seq " + brackets, true},
      {"behind a tag and a bracket", "a: !x" + brackets, true},
      {"below a block scalar", "a: |\n  text\nb: " + brackets, true},
      {"below a block scalar in a list", "- a: |\n    text\n  b: " + brackets, true},
      {"below a block scalar that begins with an empty line", "a: |\n          \n  " + brackets, true},
      {"below a block scalar that is indented by more", "a: |\n    text\n  " + brackets, true},
      {"behind a carriage return", "a: b\r" + brackets, true},
      {"behind a quoted text", "a: \"[\\\"[\"\nb: " + brackets, true},
      {"behind a comment", "# [\n" + brackets, true},
      {"behind a byte order mark", "\xef\xbb\xbf" + brackets, true},
      {"in UTF-16", std::string("[\0", 2) + brackets, true},
      {"a long list", "a: [" + items + "b]", true},
      {"a block scalar", "a: |\n  " + brackets + "\n", false},
      {"a block scalar with an indicator", "a: |2-\n  " + brackets + "\n", false},
      {"a folded scalar in a list", "- >-\n  " + brackets + "\n", false},
      {"a double-quoted text", "a: \"\\\"" + brackets + "\"", false},
      {"a single-quoted text", "a: 'it''s " + brackets + "'", false},
      {"a plain text", "a: b" + brackets, false},
      {"a comment", "a: b # " + brackets, false},
  };
  for (const auto& one : cases) {
    const std::string problem = FlowProblem(one.text, 1000, 100'000);
    EXPECT_EQ(!problem.empty(), one.refused) << one.name << ": " << problem;
    const std::string answer = ToJson(one.text);
    EXPECT_TRUE(one.refused || !answer.starts_with("error: ")) << one.name << ": " << answer;
  }
}

TEST(Yaml, ReadsFlowCollectionsThatAreNotLarge) {
  EXPECT_EQ(ToJson("a: [b, {c: [d, 'e, f', \"]\"]}] # ]\nb: x[0]\nc: it's {\n"), R"({"a":["b",{"c":["d","e, f","]"]}],"b":"x[0]","c":"it's {"})");
}

TEST(Yaml, ReportsDuplicates) {
  Strictness strict;
  EXPECT_EQ(ToJson("kind: A\nmetadata:\n  name: a\n  name: b\n", &strict), R"({"kind":"A","metadata":{"name":"b"}})");
  ASSERT_EQ(strict.complaints.size(), 1u);
  EXPECT_EQ(strict.complaints[0], "yaml: unmarshal errors:\n  line 4: key \"name\" already set in map");
}

TEST(Yaml, WritesGosStyle) {
  const auto value = ParseJson(
      R"({"kind":"A","list":[1,"x",{"b":1,"a":"yes"},[2]],"empty":{},"none":[],"text":"a\nb\n","s":"it's: ok","n":null,"k10":1,"k9":"1.5","q":"","m":{"x":{"y":true}}})",
      meta::NewArena());
  EXPECT_EQ(WriteYaml(*value), R"(empty: {}
k9: "1.5"
k10: 1
kind: A
list:
- 1
- x
- a: "yes"
  b: 1
- - 2
m:
  x:
    "y": true
"n": null
none: []
q: ""
s: 'it''s: ok'
text: |
  a
  b
)");
}

}  // namespace
}  // namespace apimesh::codec
