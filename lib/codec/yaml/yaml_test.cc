#include <gtest/gtest.h>

#include "lib/codec/codec.h"

namespace apimesh::codec {
namespace {

namespace json = meta::json;

std::string ToJson(std::string_view yaml, Strictness* strict = nullptr) {
  const auto value = ParseYaml(yaml, meta::NewArena(), strict);
  return value ? WriteJson(*value) : "error: " + value.error().Message();
}

TEST(Yaml, ReadsScalarsAsYaml11) {
  const struct {
    const char* yaml;
    const char* json;
  } cases[] = {
      {"a: yes", R"({"a":true})"},
      {"a: 'yes'", R"({"a":"yes"})"},
      {"a: off", R"({"a":false})"},
      {"a: ~", R"({"a":null})"},
      {"a:", R"({"a":null})"},
      {"a: 010", R"({"a":8})"},
      {"a: 0x1F", R"({"a":31})"},
      {"a: 1_000", R"({"a":1000})"},
      {"a: 1.50", R"({"a":1.5})"},
      {"a: 2001-01-01", R"({"a":"2001-01-01"})"},
      {"a: 12:30:45", R"({"a":"12:30:45"})"},
      {"a: !!str 5", R"({"a":"5"})"},
      {"1: x\ntrue: z", R"({"1":"x","true":"z"})"},
      {"a: 1.2.3", R"({"a":"1.2.3"})"},
      {"", "null"},
      {"a: |\n  x\n  y\n", R"({"a":"x\ny\n"})"},
      {"- 1\n- [a, {b: c}]", R"([1,["a",{"b":"c"}]])"},
      {"{\"a\": 1, \"b\": [true]}", R"({"a":1,"b":[true]})"},
      {"a: 1\n---\nb: 2\n", R"({"a":1})"},
  };
  for (const auto& one : cases) EXPECT_EQ(ToJson(one.yaml), one.json) << one.yaml;
}

TEST(Yaml, ExpandsAliasesAndMerges) {
  EXPECT_EQ(ToJson("a: &x {p: 1, q: 2}\nb: *x\nc: {<<: *x, q: 3}"),
            R"({"a":{"p":1,"q":2},"b":{"p":1,"q":2},"c":{"p":1,"q":3}})");
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
  EXPECT_EQ(ToJson("a: [1"), "error: yaml: line 1: did not find expected ',' or ']'");
  EXPECT_EQ(ToJson("a: &a " + std::string(100'000, 'x') + "\nb: [" +
                   [] {
                     std::string aliases = "*a";
                     for (int i = 0; i < 1000; ++i) aliases += ", *a";
                     return aliases;
                   }() +
                   "]"),
            "error: yaml: document contains excessive aliasing");
}

TEST(Yaml, ReadsFlowCollectionsThatAreNotLarge) {
  EXPECT_EQ(ToJson("a: [b, {c: [d, 'e, f', \"]\"]}] # ]\nb: x[0]\nc: it's {\n"),
            R"({"a":["b",{"c":["d","e, f","]"]}],"b":"x[0]","c":"it's {"})");
}

// Every result was compared with sigs.k8s.io/yaml v1.6.0.
TEST(Yaml, ReadsWhatTheReferenceReads) {
  const struct {
    const char* yaml;
    const char* json;
  } cases[] = {
      {"[0x1f, 0o17, 017, 08, -0b11, 0b-11, 1e3, .5, 5., 1e-400]", "[31,15,15,8,-3,-3,1000,0.5,5,0]"},
      {"[1e400, 0x, 1.e, +.5, ~, Null, nUll, .5_0, ._5]", R"(["1e400","0x","1.e",0.5,null,null,"nUll",0.5,"._5"])"},
      {"[9223372036854775807, -9223372036854775808]", "[9223372036854775807,-9223372036854775808]"},
      {"[!!str 1, !!int '1', !!float 1, !foo 1, ! 1, !!binary aGk=, !!timestamp 2001-01-01]",
       R"(["1",1,1,"1","1","hi","2001-01-01"])"},
      {"1.5: a\n1e6: b\n.inf: c\n-.inf: d\ny: e", R"({"1.5":"a","1e+06":"b",".inf":"c","-.inf":"d","true":"e"})"},
      {"a: x\n  y\n\n  z # c", R"({"a":"x y\nz"})"},
      {"a: 'it''s\n  b'\nc: \"x\\\n  y\\x41\\u00e9\\L\"", "{\"a\":\"it's b\",\"c\":\"xyA\xc3\xa9\\u2028\"}"},
      {"a: >\n  x\n  y\n\n   z\n  k\nb: |+\n  x\n\nc: |-\n  x\n\nd: |2\n    x\n",
       R"({"a":"x y\n\n z\nk\n","b":"x\n\n","c":"x","d":"  x\n"})"},
      {"a: &x {p: 1}\nb: {p: 3, <<: *x}\nc: {<<: [*x, {p: 2, q: 2}]}",
       R"({"a":{"p":1},"b":{"p":1},"c":{"p":1,"q":2}})"},
      {"&a a: *a", R"({"a":"a"})"},
      {"[a: b, ? c, {d, e: }]", R"([{"a":"b"},{"c":null},{"d":null,"e":null}])"},
      {"a:\n- b\n-\n  - c\n- d: e\n  f: g", R"({"a":["b",["c"],{"d":"e","f":"g"}]})"},
      {"? a\n? b\n: c", R"({"a":null,"b":"c"})"},
      {"%YAML 1.1\n%TAG !e! tag:yaml.org,2002:\n--- !e!str 1\n...\n[", R"("1")"},
      {"# only a comment", "null"},
      {"\xef\xbb\xbfkind: A\r\nb: c\rd: e\xc2\x85", R"({"kind":"A","b":"c","d":"e"})"},
      {"\xe6\x97\xa5: {\xc3\xa9: 1}\n", "{\"\xe6\x97\xa5\":{\"\xc3\xa9\":1}}"},
      {"a: b:c\nd: e#f\ng: h #i", R"({"a":"b:c","d":"e#f","g":"h"})"},
  };
  for (const auto& one : cases) EXPECT_EQ(ToJson(one.yaml), one.json) << one.yaml;
}

TEST(Yaml, ComplainsInTheReferencesWords) {
  const struct {
    std::string yaml;
    const char* error;
  } cases[] = {
      {"a: b: c", "mapping values are not allowed in this context"},
      {"x: 1\na: b: c", "line 2: mapping values are not allowed in this context"},
      {"\ta: b", "found character that cannot start any token"},
      {"a:\n\tb: c", "line 2: found character that cannot start any token"},
      {"a: b\n c: d", "line 2: mapping values are not allowed in this context"},
      {"a:\n  - b\n  c: d", "line 2: did not find expected '-' indicator"},
      {"- a\nb: c", "line 1: did not find expected '-' indicator"},
      {"a: b\n- c", "line 1: did not find expected key"},
      {"a: 'b", "found unexpected end of stream"},
      {"key: value\nkey2\nkey3: x", "line 3: could not find expected ':'"},
      {"a: *b", "unknown anchor 'b' referenced"},
      {"a: &a [*a]", "anchor 'a' value contains itself"},
      {"a: {<<: 1}", "map merge requires map or sequence of maps as the value"},
      {"a: {{ b }}", R"(invalid map key: map[interface {}]interface {}{"b":interface {}(nil)})"},
      {"? [1, x, 1.5, yes]\n: a", R"(invalid map key: []interface {}{1, "x", 1.5, true})"},
      {"a: !!int b", "cannot decode !!str `b` as a !!int"},
      {"a: !!binary x", "!!binary value contains invalid base64 data"},
      {"a: !x!y z", "found undefined tag handle"},
      {"%YAML 1.2\n--- a", "found incompatible YAML document"},
      {"a: \"\\q\"", "found unknown escape character"},
      {"a: |0\n b", "found an indentation indicator equal to 0"},
      {"a: \x07", "control characters are not allowed"},
      {std::string("a\0b", 3), "control characters are not allowed"},
      {"a: \xff", "invalid leading UTF-8 octet"},
      {"a: \xc3\x28", "invalid trailing UTF-8 octet"},
      {"a: \xed\xa0\x80", "invalid Unicode character"},
      {std::string(1200, 'k') + ": a", "mapping values are not allowed in this context"},
  };
  for (const auto& one : cases) EXPECT_EQ(ToJson(one.yaml), std::string("error: yaml: ") + one.error) << one.yaml;
  EXPECT_EQ(ToJson("a: .inf"), "error: json: unsupported value: +Inf");
}

// Each of these takes many times as long if a part of the parser is quadratic in the input.
TEST(Yaml, RefusesWhatWouldCostTooMuch) {
  std::string deep(990, '['), items, directives;
  for (int i = 0; i < 800'000; ++i) items += "a,";
  for (int i = 0; i < 100'000; ++i) directives += fmt::format("%TAG !a{}! x\n", i);
  EXPECT_EQ(ToJson(deep + items), "error: Request entity too large: limit is 750000 YAML nodes");
  EXPECT_EQ(ToJson(std::string(1'000'000, '[')), "error: yaml: exceeded max depth");
  EXPECT_EQ(ToJson(directives + "--- a"), "error: yaml: line 100: found too many %TAG directives");
  std::string prefix = "%TAG ! " + std::string(1'000'000, 'x') + "\n---\n";
  for (int i = 0; i < 200'000; ++i) prefix += "- !a b\n";
  EXPECT_TRUE(ToJson(prefix).starts_with(R"(["b","b",)"));
}

TEST(Yaml, ScalarsOfFlagsStayAsTheyAreWritten) {
  EXPECT_EQ(WriteJson(*ParseYamlStrings("a: 1.20\nb: [yes, 0x1F, ~]\nc:\n1: x")),
            R"({"a":"1.20","b":["yes","0x1F","~"],"c":"","1":"x"})");
}

TEST(Yaml, ReportsDuplicates) {
  Strictness strict;
  EXPECT_EQ(ToJson("kind: A\nmetadata:\n  name: a\n  name: b\n", &strict), R"({"kind":"A","metadata":{"name":"b"}})");
  ASSERT_EQ(strict.complaints.size(), 1u);
  EXPECT_EQ(strict.complaints[0], "yaml: unmarshal errors:\n  line 4: key \"name\" already set in map");
  const struct {
    const char* yaml;
    const char* lines;
  } cases[] = {
      {"a: 1\nb: {c: 1, c: 2}\na:\n  x: 1\n  x: 2",
       "\n  line 2: key \"c\" already set in map\n  line 5: key \"x\" already set in map"
       "\n  line 4: key \"a\" already set in map"},
      {"1: a\n\"1\": b\n0x1: c\ny: d\nyes: e",
       "\n  line 3: key 1 already set in map\n  line 5: key true already set in map"},
      {"a: &x {x: 1}\nb:\n  x: 2\n  <<: *x", "\n  line 1: key \"x\" already set in map"},
  };
  for (const auto& one : cases)
    EXPECT_EQ(YamlDuplicates(one.yaml), std::string("yaml: unmarshal errors:") + one.lines) << one.yaml;
}

TEST(Yaml, FindsDuplicatesWhileParsing) {
  for (const std::string text :
       {R"({"a":1,"b":{"c":1}})", R"({"a":1,"a":2,"b":{"c":1,"c":2}})", "{\"a\":1,\"a\":2,}", "a: 1\nb: 2\n",
        "a: 1\na: 2\n", "{a: 1, \"a\": 2}", R"({"\ud800":1,"\udfff":2})", R"({"a":1} x)", "{\"a\": [1, 2\n", "- a", "",
        "{", R"({"<<":{"a":1},"a":2})", R"({"1":1,"\u0031":2})"}) {
    std::string duplicates;
    const auto value = ParseYamlWithDuplicates(text, meta::NewArena(), duplicates);
    const auto plain = ParseYaml(text, meta::NewArena());
    ASSERT_EQ(value.has_value(), plain.has_value()) << text;
    if (!value) {
      EXPECT_EQ(value.error().Message(), plain.error().Message()) << text;
      continue;
    }
    EXPECT_EQ(WriteJson(*value), WriteJson(*plain)) << text;
    EXPECT_EQ(duplicates, YamlDuplicates(text)) << text;
  }
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

// The output of sigs.k8s.io/yaml 1.6 for the same values.
TEST(Yaml, FoldsLongLines) {
  std::string words;
  for (int i = 0; i < 20; ++i) words += "word ";
  const auto text = [&](std::string_view before, std::string_view after) {
    return json::string(std::string(before) + words + std::string(after));
  };
  json::object value;
  value["double"] = text("1\t", "end  x\x01\xc2\xa0\xc3\xa9\xf0\x9f\x98\x80");
  value["key " + words + "end"] = "v";
  value["lead"] = " a\nb";
  value["nested"] = json::object{{"list", json::array{text("", "end"), json::object{{"a", text("", "end")}}}}};
  value["nl"] = "\n";
  value["nn"] = "\na\n\n";
  value["single"] = text("# ", "end it's  two  spaces");
  value["sp"] = text("a \nb ", "end");
  value["trail"] = text("", "end ");
  EXPECT_EQ(WriteYaml(value), R"(double: "1\tword word word word word word word word word word word word word word
  word word word word word word end  x\x01 é\U0001F600"
key word word word word word word word word word word word word word word word word word word word word end: v
lead: |2-
   a
  b
nested:
  list:
  - word word word word word word word word word word word word word word word word
    word word word word end
  - a: word word word word word word word word word word word word word word word
      word word word word word end
nl: |2+

nn: |2+

  a

single: '# word word word word word word word word word word word word word word word
  word word word word word end it''s  two  spaces'
sp: "a \nb word word word word word word word word word word word word word word word
  word word word word word end"
trail: 'word word word word word word word word word word word word word word word
  word word word word word end '
)");
}

}  // namespace
}  // namespace apimesh::codec
