#include "lib/patch/apply/field_set.h"

#include <gtest/gtest.h>

#include "lib/patch/apply/typed.h"
#include "lib/schema/crd.h"

namespace apimesh::patch {
namespace {

namespace json = meta::json;

class FieldSetTest : public ::testing::Test {
 protected:
  FieldSet Read(const char* text) {
    kept_.push_back(json::parse(text));
    FieldSet set;
    EXPECT_TRUE(set.FromJson(kept_.back().as_object(), arena_)) << text;
    return set;
  }
  static std::string Text(const FieldSet& set) { return json::serialize(set.ToJson({})); }

  std::deque<json::value> kept_;
  TextArena arena_;
};

TEST_F(FieldSetTest, WritesInCanonicalOrder) {
  const FieldSet set = Read(
      R"({"f:b":{},"f:a":{"k:{\"port\":443}":{},"k:{\"port\":80}":{".":{},"f:x":{}}},"i:10":{},"i:9":{},"v:2":{},"v:\"a\"":{},"v:10":{}})");
  EXPECT_EQ(
      Text(set),
      R"({"f:a":{"k:{\"port\":80}":{".":{},"f:x":{}},"k:{\"port\":443}":{}},"f:b":{},"v:2":{},"v:10":{},"v:\"a\"":{},"i:9":{},"i:10":{}})");
}

TEST_F(FieldSetTest, SortsTheNamesOfKeys) {
  EXPECT_EQ(Text(Read(R"({"k:{\"b\":1,\"a\":2}":{}})")), R"({"k:{\"a\":2,\"b\":1}":{}})");
}

TEST_F(FieldSetTest, ManyElementsHaveTheSameOrderAsFew) {
  using Kind = PathElement::Kind;
  auto random = [seed = 1u]() mutable { return seed = seed * 1103515245 + 12345, seed >> 8; };
  struct Case {
    Kind kind;
    std::string_view before, after;  // the text before and after the varying part
    std::string_view alphabet;       // of the varying part; empty: numbers
  };
  const Case cases[] = {{Kind::kField, "", "", "ab/"},
                        {Kind::kField, "common-", "", "ab"},
                        {Kind::kValue, "", "", ""},
                        {Kind::kValue, "1", "", ""},
                        {Kind::kValue, "-", "", ""},
                        {Kind::kValue, "\"", "\"", "ab !~"},
                        {Kind::kValue, "\"", "\"", "a\\"},
                        {Kind::kKey, "{\"p\":", "}", ""},
                        {Kind::kKey, "{\"n\":\"", "\"}", "ab "},
                        {Kind::kKey, "{\"n\":\"", "\",\"p\":1}", "ab"},
                        {Kind::kKey, "{\"p\":1", ",\"q\":2}", ""},
                        {Kind::kKey, "{\"", "\":1}", "ab"},
                        {Kind::kIndex, "", "", ""}};
  for (const Case& one : cases) {
    FieldSet set;
    for (int i = 0; i < 300; ++i) {
      std::string text(one.before);
      if (one.alphabet.empty()) text += std::to_string(random() % (i % 2 ? 100 : 1000000));
      for (std::size_t n = one.alphabet.empty() ? 0 : random() % 14; n > 0; --n) {
        const char c = one.alphabet[random() % one.alphabet.size()];
        text += c == '\\' ? std::string("\\n") : std::string(1, c);
      }
      set.Append({one.kind, arena_.Keep(text + std::string(one.after))}, true, {});
    }
    set.Sort();
    const auto& entries = set.Entries();
    EXPECT_GT(entries.size(), 30u);
    for (std::size_t i = 1; i < entries.size(); ++i) {
      EXPECT_LT(Compare(entries[i - 1].element, entries[i].element), 0)
          << entries[i - 1].element.text << " " << entries[i].element.text;
    }
  }
}

TEST_F(FieldSetTest, UnitesEqualElements) {
  for (const int count : {2, 100}) {
    FieldSet set;
    for (int i = 0; i < 2 * count; ++i) {
      FieldSet below;
      below.Append({PathElement::Kind::kField, i < count ? "x" : "y"}, true, {});
      set.Append({PathElement::Kind::kField, arena_.Keep(std::to_string(i % count))}, i >= count, std::move(below));
    }
    set.Sort();
    ASSERT_EQ(set.Entries().size(), static_cast<std::size_t>(count));
    for (const FieldSet::Entry& entry : set.Entries()) {
      EXPECT_TRUE(entry.member);
      EXPECT_EQ(entry.children.Entries().size(), 2u);
    }
  }
}

TEST_F(FieldSetTest, CanBeWrittenInTheOrderOfTheKeys) {
  const FieldSet set =
      Read(R"({"f:s":{"v:2":{},"v:10":{},"i:3":{},"k:{\"p\":2}":{},"k:{\"p\":10}":{"f:b":{},"f:a":{}}}})");
  EXPECT_EQ(json::serialize(set.ToJson({}, true)),
            R"({"f:s":{"i:3":{},"k:{\"p\":10}":{"f:a":{},"f:b":{}},"k:{\"p\":2}":{},"v:10":{},"v:2":{}}})");
}

TEST_F(FieldSetTest, RefusesWhatIsNoSet) {
  for (const char* bad :
       {R"({"k:{\"a\":007}":{}})", R"({"v:007":{}})", R"({"v:-":{}})", R"({"v:\"a":{}})", R"({"f:a":1})", R"({"x":{}})",
        R"({"k:x":{}})", R"({"i:x":{}})", R"({"k:1":{}})", R"({"fa":{}})"}) {
    FieldSet set;
    const json::value value = json::parse(bad);
    EXPECT_FALSE(set.FromJson(value.as_object(), arena_)) << bad;
  }
  EXPECT_TRUE(Read(R"({"z:future":{}})").Empty());
}

TEST_F(FieldSetTest, Algebra) {
  const FieldSet a = Read(R"({"f:a":{".":{},"f:x":{}},"f:b":{}})");
  const FieldSet b = Read(R"({"f:a":{},"f:c":{"f:y":{}}})");
  EXPECT_EQ(Text(a.Union(b)), R"({"f:a":{".":{},"f:x":{}},"f:b":{},"f:c":{"f:y":{}}})");
  EXPECT_EQ(Text(a.Intersection(b)), R"({"f:a":{}})");
  EXPECT_EQ(Text(a.Difference(b)), R"({"f:a":{"f:x":{}},"f:b":{}})");
  FieldSet c = a;
  c.SubtractTrees(b);
  EXPECT_EQ(Text(c), R"({"f:b":{}})");
}

TEST_F(FieldSetTest, PathsReadLikeTheReferences) {
  const FieldSet set = Read(R"({"f:a":{"k:{\"name\":\"x\",\"port\":80}":{"f:b":{}},"v:\"s\"":{},"i:3":{}}})");
  std::vector<std::string> paths;
  set.ForEach([&](const FieldSet::Path& path) { paths.push_back(ToString(path)); });
  EXPECT_EQ(paths, (std::vector<std::string>{".a[=\"s\"]", ".a[3]", ".a[name=\"x\",port=80].b"}));
}

/// A test schema: a set, a list map with a default key, an atomic map, raw JSON.
class TypedTest : public FieldSetTest {
 protected:
  TypedTest() {
    using schema::Node;
    const auto add = [&](Node node) { return schema_.Add(std::move(node)); };
    Node* text = add({.type = schema::Type::kString});
    Node* number = add({.type = schema::Type::kInteger});
    Node* item = add({.type = schema::Type::kObject});
    item->fields = {{.name = "port", .number = 1, .schema = number},
                    {.name = "protocol", .number = 2, .schema = text, .default_value = json::value("TCP")},
                    {.name = "note", .number = 3, .schema = text}};
    Node* set = add({.type = schema::Type::kList, .items = text, .list_type = schema::ListType::kSet});
    Node* map = add({.type = schema::Type::kList,
                     .items = item,
                     .list_type = schema::ListType::kMap,
                     .list_map_keys = {"port", "protocol"}});
    Node* atomic = add({.type = schema::Type::kMap, .items = text, .map_type = schema::MapType::kAtomic});
    Node* raw = add({.type = schema::Type::kAny});
    root_ = add({.type = schema::Type::kObject});
    root_->fields = {{.name = "set", .number = 1, .schema = set},
                     {.name = "map", .number = 2, .schema = map},
                     {.name = "atomic", .number = 3, .schema = atomic},
                     {.name = "raw", .number = 4, .schema = raw}};
    schema_.Seal();
  }
  const json::object& Document(const char* text) {
    kept_.push_back(json::parse(text));
    return kept_.back().as_object();
  }
  std::string Compared(const char* before, const char* after) {
    TypeErrors errors;
    const Changes changes = CompareTyped(*root_, Document(before), Document(after), arena_, errors);
    return "-" + Text(changes.removed) + " ~" + Text(changes.modified) + " +" + Text(changes.added);
  }

  schema::Schema schema_;
  schema::Node* root_ = nullptr;
};

TEST_F(TypedTest, Compares) {
  EXPECT_EQ(Compared(R"({"set":["a","b"]})", R"({"set":["b","c"]})"),
            R"(-{"f:set":{"v:\"a\"":{}}} ~{} +{"f:set":{"v:\"c\"":{}}})");
  EXPECT_EQ(Compared(R"({"map":[{"port":1}]})", R"({"map":[{"port":1,"protocol":"TCP","note":"x"}]})"),
            R"(-{} ~{} +{"f:map":{"k:{\"port\":1,\"protocol\":\"TCP\"}":{"f:note":{},"f:protocol":{}}}})");
  EXPECT_EQ(Compared(R"({"atomic":{"a":"b"}})", R"({"atomic":{"a":"b","c":"d"}})"), R"(-{} ~{"f:atomic":{}} +{})");
  EXPECT_EQ(Compared(R"({"raw":{"a":{"b":1},"l":[1]}})", R"({"raw":{"a":{"b":1.0,"c":2},"l":[2]}})"),
            R"(-{} ~{"f:raw":{}} +{})");
  EXPECT_EQ(Compared(R"({"raw":"x"})", R"({"raw":{"a":1}})"), R"(-{} ~{"f:raw":{}} +{})");
}

TEST_F(TypedTest, DuplicatesCountAsOneThing) {
  EXPECT_EQ(Compared(R"({"set":["a","a"]})", R"({"set":["a"]})"),
            R"(-{"f:set":{"v:\"a\"":{}}} ~{} +{"f:set":{"v:\"a\"":{}}})");
  EXPECT_EQ(Compared(R"({"map":[{"port":1,"note":"x"},{"port":1,"note":"y"}]})",
                     R"({"map":[{"port":1,"note":"x"},{"port":1,"note":"z"}]})"),
            R"(-{} ~{"f:map":{"k:{\"port\":1,\"protocol\":\"TCP\"}":{}}} +{})");
  EXPECT_EQ(Text(ToFieldSet(*root_, Document(R"({"set":["a","b","a"]})"), arena_)),
            R"({"f:set":{"v:\"a\"":{},"v:\"b\"":{}}})");
}

TEST_F(TypedTest, MergesListsInTheOrderOfTheConfiguration) {
  TypeErrors errors;
  const auto merged = [&](const char* live, const char* config) {
    return json::serialize(MergeTyped(*root_, Document(live), Document(config), errors));
  };
  EXPECT_EQ(merged(R"({"set":["a","b","c"]})", R"({"set":["c","a"]})"), R"({"set":["b","c","a"]})");
  EXPECT_EQ(merged(R"({"set":["a"]})", R"({"set":["x","a","y"]})"), R"({"set":["x","a","y"]})");
  EXPECT_EQ(merged(R"({"map":[{"port":1,"note":"x"}]})", R"({"map":[{"port":1,"protocol":"TCP"}]})"),
            R"({"map":[{"port":1,"note":"x","protocol":"TCP"}]})");
  EXPECT_TRUE(errors.empty());
  merged("{}", R"({"set":["a","a"]})");
  EXPECT_EQ(ToString(errors), "duplicate entries for key [=\"a\"]");
}

TEST_F(TypedTest, ValidatesTypes) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"x":1})", ".x: field not declared in schema"},
      {R"({"set":{}})", ".set: expected list, got &{map[]}"},
      {R"({"map":[{"note":"x"}]})", ""},
      {R"({"map":[1]})", ".map: element 0: associative list with keys may not have non-map elements"},
      {R"({"map":[{"port":"x"}]})",
       ".map[port=\"x\",protocol=\"TCP\"].port: expected numeric (int or float), got string"},
  };
  for (const auto& [document, want] : cases) {
    const TypeErrors errors = ValidateTypes(*root_, Document(document), false);
    EXPECT_EQ(errors.empty() ? "" : ToString(errors), want) << document;
  }
}

TEST(ValidateTypes, ReportsUndeclaredFieldsOfCustomResources) {
  schema::Schema schemas;
  const json::value openapi = json::parse(
      R"({"type":"object","properties":{"closed":{"type":"object","properties":{"a":{"type":"string"}}},"empty":{"type":"object"},"map":{"type":"object","additionalProperties":{"type":"string"}},"open":{"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{"k":{"type":"object","properties":{"a":{"type":"string"}}}}}}})");
  const schema::Node* root = schema::CompileOpenApi(openapi.get_object(), schemas);
  schemas.Seal();
  const std::pair<const char*, const char*> cases[] = {
      {R"({"closed":{"a":"x"}})", ""},
      {R"({"closed":{"b":1}})", ".closed.b: field not declared in schema"},
      {R"({"top":1})", ".top: field not declared in schema"},
      {R"({"empty":{"a":1},"map":{"k":"v"},"open":{"k":{"b":1},"z":1}})", ""},
  };
  for (const auto& [document, want] : cases) {
    const TypeErrors errors = ValidateTypes(*root, json::parse(document).get_object(), false);
    EXPECT_EQ(errors.empty() ? "" : ToString(errors), want) << document;
  }
}

TEST_F(TypedTest, OwnsAtomsAsAWhole) {
  FieldSet set = Read(R"({"f:atomic":{"f:a":{}},"f:set":{"v:\"a\"":{}}})");
  EXPECT_TRUE(ReconcileWithSchema(*root_, set));
  EXPECT_EQ(Text(set), R"({"f:atomic":{},"f:set":{"v:\"a\"":{}}})");
  EXPECT_FALSE(ReconcileWithSchema(*root_, set));
}

}  // namespace
}  // namespace apimesh::patch
