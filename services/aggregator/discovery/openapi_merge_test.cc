#include "services/aggregator/discovery/openapi_merge.h"

#include <gtest/gtest.h>

#include "lib/codec/codec.h"

namespace apimesh::aggregator {
namespace {

namespace json = meta::json;

json::object Parse(std::string_view text) { return codec::ParseJson(text, meta::NewArena())->get_object(); }

TEST(OpenApiMerge, KeepsWhatThePathsUse) {
  json::object document = Parse(
      R"({"paths":{"/apis/a/v1/x":{"get":{"parameters":[{"$ref":"#/parameters/p"}],"schema":{"$ref":"#/definitions/A"}}},)"
      R"("/version":{"get":{"schema":{"$ref":"#/definitions/V"}}}},)"
      R"("definitions":{"A":{"items":{"$ref":"#/definitions/B"}},"B":{"properties":{"$ref":{"type":"string"},"a":{"$ref":"#/definitions/A"}}},)"
      R"("V":{},"Unused":{"$ref":"#/definitions/B"}},"parameters":{"p":{},"q":{}}})");
  KeepPaths(document, [](std::string_view path) { return path.starts_with("/apis/a/v1/"); });
  EXPECT_EQ(
      codec::WriteJson(document),
      R"({"paths":{"/apis/a/v1/x":{"get":{"parameters":[{"$ref":"#/parameters/p"}],"schema":{"$ref":"#/definitions/A"}}}},)"
      R"("definitions":{"A":{"items":{"$ref":"#/definitions/B"}},"B":{"properties":{"$ref":{"type":"string"},"a":{"$ref":"#/definitions/A"}}}},)"
      R"("parameters":{"p":{}}})");
}

struct Case {
  const char* name;
  const char* all;
  const char* more;
  const char* want;
};
const Case kCases[] = {
    {"Adds", R"({"paths":{"/a":{}},"definitions":{"A":{}}})", R"({"paths":{"/b":{}},"definitions":{"B":{}}})",
     R"({"paths":{"/a":{},"/b":{}},"definitions":{"A":{},"B":{}}})"},
    {"KeepsThePathThatIsThere", R"({"paths":{"/a":{"x":1}},"definitions":{}})",
     R"({"paths":{"/a":{"$ref":"#/definitions/B"},"/b":{}},"definitions":{"B":{}}})",
     R"({"paths":{"/a":{"x":1},"/b":{}},"definitions":{}})"},
    {"RenamesWhatDiffers", R"({"paths":{},"definitions":{"A":{"type":"object"}}})",
     R"({"paths":{"/b":{"$ref":"#/definitions/A"}},"definitions":{"A":{"type":"array","items":{"$ref":"#/definitions/A"}}}})",
     R"({"paths":{"/b":{"$ref":"#/definitions/A_v2"}},"definitions":{"A":{"type":"object"},)"
     R"("A_v2":{"type":"array","items":{"$ref":"#/definitions/A_v2"}}}})"},
    {"UsesARenamedOneAgain", R"({"paths":{},"definitions":{"A":{"t":1},"A_v2":{"t":2},"A_v3":{"t":3}}})",
     R"({"paths":{"/b":{"$ref":"#/definitions/A"}},"definitions":{"A":{"t":3}}})",
     R"({"paths":{"/b":{"$ref":"#/definitions/A_v3"}},"definitions":{"A":{"t":1},"A_v2":{"t":2},"A_v3":{"t":3}}})"},
    {"AvoidsNamesOfTheSource", R"({"paths":{},"definitions":{"A":{"t":1}}})",
     R"({"paths":{"/b":{"$ref":"#/definitions/A"}},"definitions":{"A":{"t":2},"A_v2":{"t":4}}})",
     R"({"paths":{"/b":{"$ref":"#/definitions/A_v3"}},"definitions":{"A":{"t":1},"A_v3":{"t":2},"A_v2":{"t":4}}})"},
    {"JoinsKinds", R"({"paths":{},"definitions":{"A":{"t":1,"x-kubernetes-group-version-kind":[{"kind":"X"}]}}})",
     R"({"paths":{"/b":{}},"definitions":{"A":{"x-kubernetes-group-version-kind":[{"kind":"X"},{"kind":"Y"}],"t":1}}})",
     R"({"paths":{"/b":{}},"definitions":{"A":{"t":1,"x-kubernetes-group-version-kind":[{"kind":"X"},{"kind":"Y"}]}}})"},
    {"RenamesParameters", R"({"paths":{},"definitions":{},"parameters":{"p":{"t":1}}})",
     R"({"paths":{"/b":{"$ref":"#/parameters/p"}},"parameters":{"p":{"t":2}}})",
     R"({"paths":{"/b":{"$ref":"#/parameters/p_v2"}},"definitions":{},"parameters":{"p":{"t":1},"p_v2":{"t":2}}})"},
    {"IgnoresDefinitionsWithoutPaths", R"({"paths":{},"definitions":{}})", R"({"definitions":{"A":{}}})",
     R"({"paths":{},"definitions":{}})"},
};

TEST(OpenApiMerge, Merges) {
  for (const Case& c : kCases) {
    json::object all = Parse(c.all);
    MergeOpenApiV2(all, Parse(c.more));
    EXPECT_EQ(codec::WriteJson(all), c.want) << c.name;
  }
}

}  // namespace
}  // namespace apimesh::aggregator
