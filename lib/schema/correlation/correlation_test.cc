#include "lib/schema/correlation/correlation.h"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <gmock/gmock.h>

#include "lib/schema/crd.h"
#include "lib/schema/validation.h"

namespace apimesh::schema {
namespace {

namespace json = boost::json;
using ::testing::ElementsAreArray;

constexpr char kSchema[] =
    R"({"type":"object","properties":{"apiVersion":{"type":"string","maxLength":1},"a":{"type":"string","maxLength":1},
"deep":{"type":"object","required":["x"],"properties":{"b":{"type":"string","maxLength":1},"x":{"type":"string"}}},
"free":{"type":"object","minProperties":3,"x-kubernetes-preserve-unknown-fields":true,"properties":{"p":{"type":"integer"}}},
"words":{"type":"array","items":{"type":"string","maxLength":1}},
"any":{"type":"string","anyOf":[{"maxLength":1},{"pattern":"^z"}]},
"labels":{"type":"object","additionalProperties":{"type":"string","maxLength":1}},
"ports":{"type":"array","maxItems":3,"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["n","p"],"items":{"type":"object","required":["n","p"],
"properties":{"n":{"type":"string"},"p":{"type":"integer"},"v":{"type":"string","maxLength":1}}}},
"status":{"type":"object","properties":{"phase":{"type":"string","maxLength":1}}}}})";

class Update : public ::testing::Test {
 protected:
  Update() {
    root_ = CompileOpenApi(json::parse(kSchema).get_object(), schema_);
    schema_.Seal();
  }
  std::vector<std::string> Fields(const char* before, const char* now) {
    Correlation correlation;
    const json::value old = json::parse(before), updated = json::parse(now);
    std::vector<std::string> fields;
    for (const meta::FieldError& error :
         ValidateCustomResourceUpdate(updated.get_object(), old.get_object(), *root_, correlation))
      fields.push_back(error.field);
    return fields;
  }
  Schema schema_;
  const Node* root_ = nullptr;
};

TEST_F(Update, ErrorsOfUnchangedValuesAreLeftOut) {
  struct Case {
    const char *before, *now;
    std::vector<std::string> want;
  };
  const Case cases[] = {
      {R"({"a":"xx"})", R"({"a":"xx","deep":{"x":"1"}})", {}},
      {R"({"a":"xx"})", R"({"a":"xy"})", {"a"}},
      {R"({})", R"({"a":"xx"})", {"a"}},
      // The type of a resource is not correlated.
      {R"({"apiVersion":"xx"})", R"({"apiVersion":"xx"})", {"apiVersion"}},
      // A change beside an invalid value.
      {R"({"deep":{"b":"xx"}})", R"({"deep":{"b":"xx"}})", {}},
      {R"({"deep":{"b":"xx"}})", R"({"deep":{"b":"xx","x":"1"}})", {}},
      {R"({"deep":{"b":"xx"}})", R"({"deep":{"b":"x"}})", {"deep.x"}},
      // Objects with fields that are not in the schema are never unchanged.
      {R"({"free":{"p":1}})", R"({"free":{"p":1}})", {}},
      {R"({"free":{"q":1}})", R"({"free":{"q":1}})", {"free"}},
      // A list without keys is compared as a unit.
      {R"({"words":["xx"]})", R"({"words":["xx"]})", {}},
      {R"({"words":["xx"]})", R"({"words":["xx","y"]})", {"words[0]"}},
      {R"({"any":"xx"})", R"({"any":"xx"})", {}},
      {R"({"any":"xx"})", R"({"any":"xy"})", {"<nil>", "any"}},
      {R"({"labels":{"k":"xx"}})", R"({"labels":{"k":"xx","l":"yy"}})", {"labels.l"}},
      // Items of list maps are found by their keys, in any order.
      {R"({"ports":[{"n":"a","p":1,"v":"xx"},{"n":"a","p":2}]})",
       R"({"ports":[{"n":"a","p":2,"v":"yy"},{"n":"a","p":1,"v":"xx"}]})",
       {"ports[0].v"}},
      {R"({"ports":[{"n":"a","p":1},{"n":"a","p":2},{"n":"a","p":3},{"n":"b","p":1}]})",
       R"({"ports":[{"n":"b","p":1},{"n":"a","p":2},{"n":"a","p":3},{"n":"a","p":1}]})",
       {}},
      {R"({"ports":[{"n":"a","p":1},{"n":"a","p":2},{"n":"a","p":3},{"n":"b","p":1}]})",
       R"({"ports":[{"n":"b","p":2},{"n":"a","p":2},{"n":"a","p":3},{"n":"a","p":1}]})",
       {"ports"}},
  };
  for (const Case& one : cases) EXPECT_THAT(Fields(one.before, one.now), ElementsAreArray(one.want)) << one.now;
}

TEST_F(Update, OfTheStatusNamesFieldsOfTheStatus) {
  Correlation correlation;
  const json::object before = json::parse(R"({"status":{"phase":"xx"}})").get_object();
  const json::object now = json::parse(R"({"status":{"phase":"xy"}})").get_object();
  EXPECT_TRUE(ValidateStatusUpdate(before, before, *root_, correlation).empty());
  const meta::FieldErrors errors = ValidateStatusUpdate(now, before, *root_, correlation);
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].field, "status.phase");
}

TEST_F(Update, ComparesADeepDocumentOnce) {
  std::string schema = R"({"type":"string"})", document = '"' + std::string(1 << 20, 'x') + '"';
  for (int i = 0; i < 300; ++i) {
    schema = R"({"type":"object","required":["b"],"properties":{"a":)" + schema + "}}";
    document = R"({"a":)" + document + "}";
  }
  Schema schemas;
  json::parse_options deep;
  deep.max_depth = 2000;
  const Node* root = CompileOpenApi(json::parse(schema, {}, deep).get_object(), schemas);
  schemas.Seal();
  const json::value before = json::parse(document, {}, deep), now = before;
  Correlation correlation;
  EXPECT_EQ(ValidateCustomResourceUpdate(now.get_object(), before.get_object(), *root, correlation).size(), 1u);
}

}  // namespace
}  // namespace apimesh::schema
