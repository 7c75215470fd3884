#include "services/aggregator/audit/audit_object.h"

#include <gtest/gtest.h>

#include "lib/codec/codec.h"
#include "lib/schema/builtin.h"

namespace apimesh::aggregator {
namespace {

struct Case {
  const char* name;
  std::string body, content_type, want;  // "": not recorded
};

std::string Nested(int depth) { return std::string(depth, '[') + std::string(depth, ']'); }

std::string ProtobufPod() {
  const auto pod = boost::json::parse(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"}})").as_object();
  return codec::WriteProtobuf(pod, *schema::Builtin().FindKind({"", "v1", "Pod"}));
}

class AuditObjectTable : public ::testing::TestWithParam<Case> {};

TEST_P(AuditObjectTable, IsRecordedAsJson) {
  const auto object = AuditObject(GetParam().body, GetParam().content_type);
  EXPECT_EQ(object ? codec::WriteJson(*object) : "", GetParam().want);
}

const Case kCases[] = {
    {"Json", R"({"b":1.50,"a":"<"})", "application/json", R"({"b":1.5,"a":"\u003c"})"},
    {"JsonPatch", R"([{"op":"remove"}])", "application/json-patch+json", R"([{"op":"remove"}])"},
    {"DeeplyNested", Nested(900), "application/json", Nested(900)},
    {"TooDeep", Nested(100'000), "application/json", ""},
    {"Yaml", "a: 1\nb: [x]\n", "application/yaml", R"({"a":1,"b":["x"]})"},
    {"Apply", "metadata:\n  name: one\n", "application/apply-patch+yaml", R"({"metadata":{"name":"one"}})"},
    {"Text", "hello", "application/json", ""},
    {"Number", "1", "application/json", ""},
    {"Nothing", "", "application/json", ""},
    {"BrokenProtobuf", std::string("k8s\0\xff\xff", 6), "application/vnd.kubernetes.protobuf", ""},
};
INSTANTIATE_TEST_SUITE_P(Table, AuditObjectTable, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(AuditObject, ReadsProtobufOfBuiltInKinds) {
  const auto object = AuditObject(ProtobufPod(), "application/vnd.kubernetes.protobuf");
  ASSERT_TRUE(object);
  EXPECT_EQ(object->at("kind"), "Pod");
  EXPECT_EQ(object->at("metadata").at("name"), "p");
}

TEST(AuditObject, RemovesManagedFields) {
  boost::json::value list = boost::json::parse(
      R"({"kind":"List","items":[{"metadata":{"managedFields":[1],"name":"a","uid":"u"}}],"metadata":{}})");
  RemoveManagedFields(list);
  EXPECT_EQ(codec::WriteJson(list), R"({"kind":"List","items":[{"metadata":{"name":"a","uid":"u"}}],"metadata":{}})");
  boost::json::value table =
      boost::json::parse(R"({"kind":"Table","rows":[{"object":{"metadata":{"name":"a","managedFields":[]}}}]})");
  RemoveManagedFields(table);
  EXPECT_EQ(codec::WriteJson(table), R"({"kind":"Table","rows":[{"object":{"metadata":{"name":"a"}}}]})");
}

}  // namespace
}  // namespace apimesh::aggregator
