#include "services/extensions-api/crd/expressions/expression_rules.h"

#include <boost/json/parse.hpp>
#include <gmock/gmock.h>

#include "services/extensions-api/crd/schema_rules.h"

namespace apimesh::extensions_api {
namespace {

using ::testing::ElementsAreArray;

std::vector<std::string> Errors(const std::string& schema, const ExpressionRules::Options& options = {}) {
  std::vector<std::string> texts;
  for (const meta::FieldError& error :
       ValidateSchema(boost::json::parse(schema).get_object(), false, meta::Path("s"), options))
    texts.push_back(error.field + ": " + error.Message());
  return texts;
}

std::string Rules(const std::string& rules) { return R"("x-kubernetes-validations":[)" + rules + "]"; }
std::string Object(const std::string& properties, const std::string& extra = "") {
  return R"({"type":"object","properties":)" + properties + extra + "}";
}
std::string Ruled(const std::string& schema, const std::string& rule) {
  return Object(R"({"a":{)" + schema + "," + Rules(rule) + "}}");
}

constexpr char kAt[] = "s.properties[a].x-kubernetes-validations[0].";

TEST(Expressions, AreCheckedWhenADefinitionIsWritten) {
  struct Case {
    std::string schema;
    std::vector<std::string> want;
  };
  const std::string text = R"("type":"string","maxLength":10)",
                    shown =
                        R"("Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null})";
  const Case cases[] = {
      {Ruled(text, R"({"rule":"self == 'x'"})"), {}},
      {Ruled(text, R"({"rule":"self == 1"})"),
       {std::string(kAt) + R"(rule: Invalid value: {"Rule":"self == 1",)" + shown +
        ": compilation failed: ERROR: <input>:1:6: found no matching overload for '_==_' applied to '(string, int)'\n"
        " | self == 1\n"
        " | .....^"}},
      {Ruled(text, R"({"rule":"self"})"),
       {std::string(kAt) + R"(rule: Invalid value: {"Rule":"self",)" + shown +
        ": cel expression must evaluate to a bool"}},
      {Ruled(text, R"({"rule":"true","messageExpression":"1"})"),
       {std::string(kAt) +
        R"(messageExpression: Invalid value: {"Rule":"true","Message":"","MessageExpression":"1","Reason":null,"FieldPath":"","OptionalOldSelf":null}: messageExpression must evaluate to a string)"}},
      {Ruled(text, R"({"rule":"true","messageExpression":" "})"),
       {std::string(kAt) + "messageExpression: Required value: messageExpression must be non-empty if specified"}},
      {Ruled(text, R"({"rule":"true","reason":"No"})"),
       {std::string(kAt) +
        R"(reason: Unsupported value: "No": supported values: "FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired")"}},
      {Ruled(text, R"({"rule":"true","fieldPath":".x"})"),
       {std::string(kAt) + R"(fieldPath: Invalid value: ".x": must be a valid path)"}},
      {Ruled(text, R"({"rule":"true","optionalOldSelf":true})"),
       {std::string(kAt) + "optionalOldSelf: Invalid value: true: may not be set if oldSelf is not used in rule"}},
      {Ruled(R"("x-kubernetes-preserve-unknown-fields":true)", R"({"rule":"true"})"),
       {"s.properties[a].x-kubernetes-validations: Internal error: internal error: failed to construct type "
        "information "
        "for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations"}},
      // Errors of the schema hide those of its expressions.
      {Ruled(R"("type":"string","x-kubernetes-list-type":"map")", R"({"rule":"self == 1"})"),
       {R"(s.properties[a].type: Invalid value: "string": must be array if x-kubernetes-list-type is specified)",
        "s.properties[a].x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is "
        "map",
        "s.properties[a].items: Required value: must have a schema if x-kubernetes-list-type is map"}},
  };
  for (const Case& one : cases) EXPECT_THAT(Errors(one.schema), ElementsAreArray(one.want)) << one.schema;
}

TEST(Expressions, CanUseOldSelfWhereValuesAreCorrelated) {
  const std::string rule = Rules(R"({"rule":"self == oldSelf"})");
  const std::string item =
      R"({"type":"object","required":["k"],"properties":{"k":{"type":"string","maxLength":5}},)" + rule + "}";
  EXPECT_THAT(
      Errors(Object(R"({"a":{"type":"array","maxItems":5,"items":)" + item + "}}")),
      ElementsAreArray({R"(s.properties[a].items.x-kubernetes-validations[0].rule: Invalid value: "self == oldSelf": )"
                        "oldSelf cannot be used on the uncorrelatable portion of the schema within s.properties[a]"}));
  EXPECT_THAT(
      Errors(Object(
          R"({"a":{"type":"array","maxItems":5,"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],"items":)" +
          item + "}}")),
      ::testing::IsEmpty());
}

TEST(Expressions, HaveLimitedCosts) {
  const std::string hint =
      " (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings "
      "are "
      "declared)";
  const std::string costly =
      Ruled(R"("type":"array","items":{"type":"string"})", R"_({"rule":"self.all(x, x.contains('a'))"})_");
  EXPECT_THAT(
      Errors(costly),
      ElementsAreArray(
          {kAt + std::string("rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x") + hint,
           kAt +
               std::string("rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire "
                           "OpenAPIv3 schema"),
           "s: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds "
           "budget "
           "by factor of more than 100x" +
               hint}));
  ExpressionRules::Options unchanged;
  unchanged.unchanged = true;
  EXPECT_EQ(Errors(costly, unchanged).size(), 2u) << "the limit of all rules together remains";
}

TEST(Expressions, ThatAreStoredMayUseNewFunctions) {
  StoredExpressions stored;
  stored.rules.insert("self == 'x'");
  ExpressionRules::Options options;
  options.stored = &stored;
  EXPECT_THAT(Errors(Ruled(R"("type":"string","maxLength":5)", R"({"rule":"self == 'x'"})"), options),
              ::testing::IsEmpty());
}

TEST(Expressions, OfADefinitionAreFoundEverywhere) {
  const meta::Object crd(
      boost::json::parse(
          R"({"spec":{"versions":[{"schema":{"openAPIV3Schema":{"properties":{"a":{"items":{"x-kubernetes-validations":[{"rule":"r1","messageExpression":"m"}]}}}}}},
                                  {"schema":{"openAPIV3Schema":{"x-kubernetes-validations":[{"rule":"r2"}]}}}]}})")
          .get_object());
  const StoredExpressions found = FindExpressions(crd);
  EXPECT_THAT(found.rules, ElementsAreArray({"r1", "r2"}));
  EXPECT_THAT(found.messages, ElementsAreArray({"m"}));
}

}  // namespace
}  // namespace apimesh::extensions_api
