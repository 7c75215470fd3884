#include "lib/patch/patch.h"

#include <gtest/gtest.h>

#include "lib/schema/builtin.h"

namespace apimesh::patch {
namespace {

namespace json = meta::json;

struct Case {
  const char* name;
  const char* document;
  const char* patch;
  const char* want;  // a document, or the text of an error
};

const Case kJsonPatchCases[] = {
    {"AddsKey", R"({"a":1})", R"([{"op":"add","path":"/b","value":[]}])", R"({"a":1,"b":[]})"},
    {"AddsAtEnd", R"({"a":[1]})", R"([{"op":"add","path":"/a/-","value":2}])", R"({"a":[1,2]})"},
    {"InsertsInArray", R"({"a":[1,2]})", R"([{"op":"add","path":"/a/1","value":9}])", R"({"a":[1,9,2]})"},
    {"NegativeIndexCountsFromTheEnd", R"({"a":[1,2]})", R"([{"op":"replace","path":"/a/-1","value":9}])",
     R"({"a":[1,9]})"},
    {"ReplaceMakesAMissingKey", R"({})", R"([{"op":"replace","path":"/a","value":1}])", R"({"a":1})"},
    {"DecodesEscapes", R"({"a/b":{"c~d":1}})", R"([{"op":"remove","path":"/a~1b/c~0d"}])", R"({"a/b":{}})"},
    {"Moves", R"({"a":{"x":1},"b":{}})", R"([{"op":"move","from":"/a/x","path":"/b/y"}])", R"({"a":{},"b":{"y":1}})"},
    {"Copies", R"({"a":{"x":1}})", R"([{"op":"copy","from":"/a","path":"/b"}])", R"({"a":{"x":1},"b":{"x":1}})"},
    {"TestsAMissingKeyAgainstNull", R"({})", R"([{"op":"test","path":"/a","value":null}])", R"({})"},
    {"ReplacesAll", R"({"a":1})", R"([{"op":"replace","path":"","value":{"b":2}}])", R"({"b":2})"},
    {"FailedTest", R"({"a":1})", R"([{"op":"test","path":"/a","value":2}])",
     "the server rejected our request due to an error in our request"},
    {"RemoveMissing", R"({})", R"([{"op":"remove","path":"/a"}])",
     "the server rejected our request due to an error in our request"},
    {"UnknownOperation", R"({})", R"([{"op":"x","path":"/a"}])",
     "the server rejected our request due to an error in our request"},
    {"IndexTooLarge", R"({"a":[]})", R"([{"op":"add","path":"/a/1","value":1}])",
     "the server rejected our request due to an error in our request"},
    {"NoList", "{}", "{}",
     "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp"},
    {"NoOperation", "{}", "[1]",
     "error decoding patch: json: cannot unmarshal number into Go value of type handlers.jsonPatchOp"},
};

TEST(JsonPatch, FollowsTheReference) {
  for (const Case& test : kJsonPatchCases) {
    json::value document = json::parse(test.document);
    const meta::Result<> result = ApplyJsonPatch(document, json::parse(test.patch));
    EXPECT_EQ(result ? json::serialize(document) : result.error().Message(), test.want) << test.name;
  }
}

TEST(JsonPatch, IsLimited) {
  json::array many;
  for (int i = 0; i < 10001; ++i) many.push_back({{"op", "test"}, {"path", "/a"}, {"value", nullptr}});
  json::value document = json::object();
  const meta::Result<> result = ApplyJsonPatch(document, many);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().Code(), 413);
  EXPECT_EQ(result.error().Message(),
            "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001");
  // Each copy doubles the document; the limit of copied bytes refuses the patch.
  json::array bomb;
  for (int i = 0; i < 64; ++i) bomb.push_back({{"op", "copy"}, {"from", "/a"}, {"path", "/a/-"}});
  document = {{"a", {1, 2, 3}}};
  EXPECT_FALSE(ApplyJsonPatch(document, bomb));
}

TEST(MergePatch, FollowsRfc7386) {
  const Case cases[] = {
      {"Replaces", R"({"a":"b"})", R"({"a":"c"})", R"({"a":"c"})"},
      {"Deletes", R"({"a":"b","c":1})", R"({"a":null})", R"({"c":1})"},
      {"ReplacesLists", R"({"a":[1,2]})", R"({"a":[3]})", R"({"a":[3]})"},
      {"DropsNullsInNewObjects", R"({})", R"({"a":{"b":null,"c":1}})", R"({"a":{"c":1}})"},
      {"TurnsScalarsIntoObjects", R"({"a":1})", R"({"a":{"b":2}})", R"({"a":{"b":2}})"},
  };
  for (const Case& test : cases) {
    json::value document = json::parse(test.document);
    ApplyMergePatch(document, json::parse(test.patch));
    EXPECT_EQ(json::serialize(document), test.want) << test.name;
  }
}

const Case kStrategicCases[] = {
    {"MergesByKey", R"({"containers":[{"name":"a","image":"1"},{"name":"b"}]})",
     R"({"containers":[{"name":"a","image":"2"}]})", R"({"containers":[{"name":"a","image":"2"},{"name":"b"}]})"},
    {"AppendsNewItemsFirst", R"({"containers":[{"name":"a"}]})", R"({"containers":[{"name":"z"}]})",
     R"({"containers":[{"name":"z"},{"name":"a"}]})"},
    {"DeletesItem", R"({"containers":[{"name":"a"},{"name":"b"}]})",
     R"({"containers":[{"name":"a","$patch":"delete"}]})", R"({"containers":[{"name":"b"}]})"},
    {"ReplacesList", R"({"containers":[{"name":"a"},{"name":"b"}]})",
     R"({"containers":[{"$patch":"replace"},{"name":"c"}]})", R"({"containers":[{"name":"c"}]})"},
    {"ReplacesMap", R"({"nodeSelector":{"a":"b"}})", R"({"nodeSelector":{"$patch":"replace","c":"d"}})",
     R"({"nodeSelector":{"c":"d"}})"},
    {"DeletesMap", R"({"nodeSelector":{"a":"b"}})", R"({"nodeSelector":{"$patch":"delete"}})",
     R"({"nodeSelector":{}})"},
    {"NullDeletes", R"({"nodeSelector":{"a":"b","c":"d"}})", R"({"nodeSelector":{"a":null}})",
     R"({"nodeSelector":{"c":"d"}})"},
    {"AtomicListsAreReplaced", R"({"tolerations":[{"key":"a"}]})", R"({"tolerations":[{"key":"b"}]})",
     R"({"tolerations":[{"key":"b"}]})"},
    {"SetsElementOrder", R"({"containers":[{"name":"a"},{"name":"b"},{"name":"c"}]})",
     R"({"$setElementOrder/containers":[{"name":"c"},{"name":"a"}],"containers":[{"name":"c","image":"1"}]})",
     R"({"containers":[{"name":"b"},{"name":"c","image":"1"},{"name":"a"}]})"},
    {"RetainsKeys", R"({"volumes":[{"name":"v","emptyDir":{}}]})",
     R"({"volumes":[{"name":"v","$retainKeys":["name","hostPath"],"hostPath":{"path":"/x"}}]})",
     R"({"volumes":[{"name":"v","hostPath":{"path":"/x"}}]})"},
    {"RetainKeysMustNameThePatch", R"({"volumes":[{"name":"v"}]})", R"({"volumes":[{"name":"v","$retainKeys":["x"]}]})",
     "invalid patch format of retainKeys"},
    {"MissingMergeKey", R"({"containers":[{"name":"a"}]})", R"({"containers":[{"image":"x"}]})",
     "map: map[image:x] does not contain declared merge key: name"},
    {"UnknownDirective", R"({"nodeSelector":{"a":"b"}})", R"({"nodeSelector":{"$patch":"x"}})",
     "unknown patch type: x in map: map[$patch:x]"},
    {"MergeDirectiveInList", R"({"containers":[{"name":"a"}]})", R"({"containers":[{"name":"a","$patch":"merge"}]})",
     "merging lists cannot yet be specified in the patch"},
    {"DeletesNothingWithoutAList", R"({"tolerations":[]})", R"({"$deleteFromPrimitiveList/tolerations":1})",
     R"({"tolerations":[]})"},
    {"UnknownList", R"({})", R"({"$setElementOrder/bogus":["a"],"bogus":["a"]})",
     "unable to find api field in struct PodSpec for the json field \"bogus\""},
    {"MixedList", R"({"containers":[{"name":"a"}]})", R"({"containers":[1]})",
     "list element types are not identical: [[map[name:a]] [1]]"},
    {"WrongOrder", R"({"containers":[{"name":"a"}]})",
     R"({"$setElementOrder/containers":[{"name":"b"}],"containers":[{"name":"a","image":"1"}]})",
     "The order in patch list:\n[map[image:1 name:a]]\n doesn't match $setElementOrder list:\n[map[name:b]]\n"},
};

TEST(StrategicMergePatch, FollowsTheReference) {
  const schema::Node* node = schema::Builtin().Find("io.k8s.api.core.v1.PodSpec");
  ASSERT_NE(node, nullptr);
  for (const Case& test : kStrategicCases) {
    json::object document = json::parse(test.document).as_object();
    const meta::Result<> result = ApplyStrategicMergePatch(document, json::parse(test.patch).as_object(), *node);
    EXPECT_EQ(result ? json::serialize(document) : result.error().Message(), test.want) << test.name;
  }
}

TEST(StrategicMergePatch, MergesListsOfScalars) {
  const schema::Node* node = schema::Builtin().Find("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");
  ASSERT_NE(node, nullptr);
  json::object document = json::parse(R"({"finalizers":["a","b"]})").as_object();
  ASSERT_TRUE(ApplyStrategicMergePatch(document, json::parse(R"({"finalizers":["c"]})").as_object(), *node));
  EXPECT_EQ(json::serialize(document.at("finalizers")), R"(["c","a","b"])");
  const char* patch = R"({"$deleteFromPrimitiveList/finalizers":["a"],"$setElementOrder/finalizers":["b","c"]})";
  ASSERT_TRUE(ApplyStrategicMergePatch(document, json::parse(patch).as_object(), *node));
  EXPECT_EQ(json::serialize(document.at("finalizers")), R"(["b","c"])");
}

json::array Repeat(const json::object& operation, int times) {
  json::array out;
  for (int i = 0; i < times; ++i) out.push_back(operation);
  return out;
}

TEST(JsonPatch, GivesUpWhatTakesTooLong) {
  json::array list;
  for (int i = 0; i < 100'000; ++i) list.emplace_back(i);
  const struct {
    const char* name;
    json::object operation;
  } cases[] = {
      {"insertions", {{"op", "add"}, {"path", "/a/0"}, {"value", 1}}},
      {"removals", {{"op", "remove"}, {"path", "/a/0"}}},
      {"comparisons", {{"op", "test"}, {"path", "/a"}, {"value", list}}},
  };
  for (const auto& one : cases) {
    json::value document = json::object{{"a", list}};
    const int times = std::string_view(one.name) == "comparisons" ? 200 : 10'000;
    const meta::Result<> result = ApplyJsonPatch(document, Repeat(one.operation, times));
    ASSERT_FALSE(result) << one.name;
    EXPECT_EQ(result.error().Code(), 413) << one.name;
  }
}

TEST(JsonPatch, MovesWithoutCopies) {
  json::value document(meta::NewArena());
  document = json::object{{"a", std::string(1'000'000, 'x')}};
  json::array patch;
  for (int i = 0; i < 5000; ++i) {
    patch.push_back({{"op", "move"}, {"from", i % 2 ? "/b" : "/a"}, {"path", i % 2 ? "/a" : "/b"}});
  }
  ASSERT_TRUE(ApplyJsonPatch(document, patch));
  EXPECT_EQ(document.at("a").as_string().size(), 1'000'000u);
}

TEST(MergePatch, ManyNullsTakeTimeInProportion) {
  json::object large, nulls;
  for (int i = 0; i < 100'000; ++i) large[std::to_string(i)] = "x", nulls[std::to_string(i)] = nullptr;
  json::value document = json::object{{"data", large}};
  ApplyMergePatch(document, json::object{{"data", nulls}});
  EXPECT_EQ(json::serialize(document), R"({"data":{}})");
}

TEST(StrategicMergePatch, LongListsTakeTimeInProportion) {
  const schema::Node& pod = *schema::Builtin().Find("io.k8s.api.core.v1.Pod");
  const auto in_container = [](json::object fields) {
    fields["name"] = "c";
    return json::object{{"spec", {{"containers", json::array{std::move(fields)}}}}};
  };
  json::array env, order, deletions;
  for (int i = 0; i < 50'000; ++i) {
    const std::string name = "n" + std::to_string(i);
    env.push_back({{"name", name}, {"value", "v"}});
    order.push_back(json::object{{"name", name}});
    deletions.push_back({{"name", name}, {"$patch", "delete"}});
  }
  json::object document = in_container({{"env", env}});
  ASSERT_TRUE(ApplyStrategicMergePatch(document, in_container({{"env", env}, {"$setElementOrder/env", order}}), pod));
  EXPECT_EQ(document.at("spec").at("containers").at(0).at("env").as_array().size(), 50'000u);
  ASSERT_TRUE(ApplyStrategicMergePatch(document, in_container({{"env", deletions}}), pod));
  EXPECT_EQ(document.at("spec").at("containers").at(0).at("env").as_array().size(), 0u);

  json::array finalizers;
  for (int i = 0; i < 50'000; ++i) finalizers.emplace_back("a.b/" + std::to_string(i));
  document["metadata"] = {{"finalizers", finalizers}};
  ASSERT_TRUE(ApplyStrategicMergePatch(document, {{"metadata", {{"finalizers", finalizers}}}}, pod));
  ASSERT_TRUE(
      ApplyStrategicMergePatch(document, {{"metadata", {{"$deleteFromPrimitiveList/finalizers", finalizers}}}}, pod));
  EXPECT_EQ(document.at("metadata").at("finalizers").as_array().size(), 0u);
}

}  // namespace
}  // namespace apimesh::patch
