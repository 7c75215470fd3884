#include "services/extensions-api/custom_resources/conversion.h"

#include <gtest/gtest.h>

#include "lib/schema/crd.h"

namespace apimesh::extensions_api {
namespace {

namespace json = meta::json;

// Two versions that both have `a`, with different defaults, and a field with a default that the other does not have.
class TwoVersions : public ::testing::Test {
 protected:
  TwoVersions() {
    for (
        const auto& [name, fields] : {
            std::pair("v1", R"("a":{"type":"string","default":"v1"},"old":{"type":"string","default":"v1"})"),
            std::pair(
                "v2",
                R"("a":{"type":"string","default":"v2"},"b":{"type":"string"},"new":{"type":"string","default":"v2"})"),
        }) {
      const std::string text =
          std::string(R"({"type":"object","properties":{"spec":{"type":"object","properties":{)") + fields + R"(}}}})";
      versions_.emplace(name, schema::CompileOpenApi(json::parse(text).get_object(), schemas_));
    }
    schemas_.Seal();
  }

  std::string Convert(const std::string& from, const std::string& to, const std::string& spec) const {
    meta::Object object(json::parse(R"({"apiVersion":"ex.io/)" + from +
                                    R"(","kind":"Foo","metadata":{"name":"a"},"spec":)" + spec + "}")
                            .get_object());
    const meta::Result<> converted = ConvertToServed(object, {"ex.io", to, "Foo"}, versions_);
    EXPECT_TRUE(converted.has_value());
    EXPECT_EQ(object.ApiVersion(), "ex.io/" + to);
    return json::serialize(object.Root().at("spec"));
  }

  schema::Schema schemas_;
  VersionSchemas versions_;
};

TEST_F(TwoVersions, AnObjectHasTheDefaultsOfTheVersionInWhichItIsStored) {
  EXPECT_EQ(Convert("v1", "v1", "{}"), R"({"a":"v1","old":"v1"})");
  EXPECT_EQ(Convert("v1", "v2", "{}"), R"({"a":"v1"})");
  EXPECT_EQ(Convert("v2", "v1", "{}"), R"({"a":"v2"})");
}

TEST_F(TwoVersions, AnObjectIsPrunedByBothVersions) {
  EXPECT_EQ(Convert("v1", "v2", R"({"a":"x","b":"y","old":"z"})"), R"({"a":"x"})");
  EXPECT_EQ(Convert("v2", "v2", R"({"a":"x","b":"y","old":"z"})"), R"({"a":"x","b":"y","new":"v2"})");
}

}  // namespace
}  // namespace apimesh::extensions_api
