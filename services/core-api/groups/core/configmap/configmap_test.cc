#include "services/core-api/groups/core/configmap/configmap.h"

#include <gtest/gtest.h>

#include "services/core-api/groups/testing.h"

namespace apimesh::core_api {
namespace {

struct Case {
  const char* name;
  const char* json;
  std::vector<std::string> want_fields;
};
const Case kCases[] = {
    {"Accepts", R"({"data":{"a":"b"}})", {}},
    {"RejectsSlashInKey", R"({"data":{"a/b":"c"}})", {"data[a/b]"}},
    {"RejectsKeyInBoth", R"({"data":{"a":"c"},"binaryData":{"a":"Yg=="}})", {"data[a]"}},
    {"RejectsSlashInBinaryKey", R"({"binaryData":{"a/b":"Yg=="}})", {"binaryData[a/b]"}},
};
class ConfigMapValidate : public ::testing::TestWithParam<Case> {};

TEST_P(ConfigMapValidate, ReportsFieldPaths) {
  const registry::Resource resource = ConfigMapResource({});
  std::vector<std::string> fields;
  for (const meta::FieldError& error : resource.strategy->Validate({}, testing::Parse(GetParam().json)))
    fields.push_back(error.field);
  EXPECT_EQ(fields, GetParam().want_fields);
}
INSTANTIATE_TEST_SUITE_P(Table, ConfigMapValidate, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(ConfigMap, StaysAsItIsOnceImmutable) {
  const registry::Resource resource = ConfigMapResource({});
  const meta::Object old = testing::Parse(R"({"immutable":true,"data":{"a":"b"}})");
  EXPECT_TRUE(resource.strategy->ValidateUpdate({}, old, old).empty());
  EXPECT_EQ(resource.strategy->ValidateUpdate({}, testing::Parse(R"({"data":{"a":"c"}})"), old).size(), 2U);
}

}  // namespace
}  // namespace apimesh::core_api
