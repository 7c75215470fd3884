#include "lib/storage/entry/json_scan.h"

#include <gtest/gtest.h>

#include "lib/codec/json/json_parts.h"
#include "lib/storage/entry/entry.h"

namespace apimesh::storage {
namespace {

struct Case {
  const char* name;
  const char* text;
  const char* want;  // with resourceVersion 7 in place; nullptr: not an object
};
const Case kCases[] = {
    {"Sorted", R"({"apiVersion":"a/v1","kind":"X","metadata":{"creationTimestamp":"t","name":"x","uid":"u"}})",
     R"({"apiVersion":"a/v1","kind":"X","metadata":{"creationTimestamp":"t","name":"x","resourceVersion":"7","uid":"u"}})"},
    {"AfterUid", R"({"kind":"A","apiVersion":"v1","metadata":{"name":"a","uid":"u","labels":{"x":"y"}},"spec":{}})",
     R"({"kind":"A","apiVersion":"v1","metadata":{"name":"a","uid":"u","resourceVersion":"7","labels":{"x":"y"}},"spec":{}})"},
    {"AtTheEnd", R"({"apiVersion":"v1","metadata":{"name":"a"}})",
     R"({"apiVersion":"v1","metadata":{"name":"a","resourceVersion":"7"}})"},
    {"Empty", R"({"apiVersion":"v1","metadata":{}})", R"({"apiVersion":"v1","metadata":{"resourceVersion":"7"}})"},
    {"Replaced", R"({"apiVersion":"v1","metadata":{"resourceVersion":"123","name":"a"}})",
     R"({"apiVersion":"v1","metadata":{"resourceVersion":"7","name":"a"}})"},
    {"Spaces", "{ \"apiVersion\" : \"v1\",\n \"metadata\" : { \"name\" : \"a\" , \"generation\" : 1 } }\n",
     "{ \"apiVersion\" : \"v1\",\n \"metadata\" : { \"name\" : \"a\" , \"resourceVersion\":\"7\",\"generation\" : 1 } "
     "}\n"},
    {"QuotesInStrings", R"({"apiVersion":"v1","data":{"a":"}\"{\\"},"metadata":{"name":"a"}})",
     R"({"apiVersion":"v1","data":{"a":"}\"{\\"},"metadata":{"name":"a","resourceVersion":"7"}})"},
    {"NoMetadata", R"({"apiVersion":"v1"})", nullptr},
    {"CutOff", R"({"apiVersion":"v1","metadata":{"name":"a")", nullptr},
    {"CutOffLater", R"({"apiVersion":"v1","metadata":{"name":"a"},"spec":{"a)", nullptr},
    {"NoObject", "[]", nullptr},
    {"Nothing", "", nullptr},
    {"Garbage", "\x01\x02", nullptr},
};
class ScanObjectTest : public ::testing::TestWithParam<Case> {};

TEST_P(ScanObjectTest, PutsTheVersionInPlace) {
  for (const std::vector<std::string>& fields :
       {std::vector<std::string>(), std::vector<std::string>{"spec.nodeName"}}) {
    ResourceConfig config;
    config.selectable_fields = fields;
    const auto entry = CachedEntry::FromJson(std::make_shared<const EntryRecipe>(config), "a", 7, GetParam().text);
    ASSERT_EQ(entry.has_value(), GetParam().want != nullptr);
    if (!entry) continue;
    std::string want = GetParam().want;
    EXPECT_EQ((*entry)->Json().View(), want);
    want.replace(want.find(R"("resourceVersion":"7")"), 21, R"("resourceVersion":"12345")");
    EXPECT_EQ((*entry)->At(12345)->Json().View(), want);
    for (const CachedEntryPtr& one : {*entry, (*entry)->At(12345)}) {
      EXPECT_EQ(one->MetadataText(), codec::RawField(one->JsonText(), "metadata")) << one->JsonText();
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Table, ScanObjectTest, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(ScanObject, ReadsLabelsAndFields) {
  const auto scanned = ScanObject(
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"labels":{"b":"2","a":"\u00e9\ud83d\ude00\n"},"name":"x"},)"
      R"("spec":{"nodeName":"n1","hostNetwork":true,"deep":{"er":{"a":1}}},"status":{"phase":"Running","list":[1,{"x":2}]}})",
      SplitPaths(
          {"spec.nodeName", "status.phase", "spec.hostNetwork", "spec.missing", "spec.deep.er.a", "status.list"}));
  ASSERT_TRUE(scanned);
  EXPECT_EQ(scanned->labels, (meta::Labels{{"a", "é😀\n"}, {"b", "2"}}));
  EXPECT_EQ(scanned->fields, (std::vector<std::string>{"n1", "Running", "true", "", "1", ""}));
  EXPECT_EQ(scanned->api_version, "v1");
}

}  // namespace
}  // namespace apimesh::storage
