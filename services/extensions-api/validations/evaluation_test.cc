#include "services/extensions-api/validations/evaluation.h"

#include <boost/json/parse.hpp>
#include <gmock/gmock.h>

#include "lib/schema/crd.h"
#include "services/extensions-api/validations/lazy_rules.h"

namespace apimesh::extensions_api {
namespace {

namespace json = boost::json;
using ::testing::ElementsAreArray;

struct Outcome {
  std::vector<std::string> errors, warnings;
};

/// Evaluates the rules of the schema {"type": "object", "properties": `properties`} and `extra`.
Outcome Evaluate(const std::string& properties, const std::string& extra, const std::string& now,
                 const std::string& before = "") {
  const json::object schema = json::parse(R"({"type":"object","properties":)" + properties + extra + "}").get_object();
  schema::Schema schemas;
  const schema::Node* node = schema::CompileOpenApi(schema, schemas);
  schemas.Seal();
  const auto rules = LazyRules::Make(schema, *node);
  const std::string start = R"({"apiVersion":"e.io/v1","kind":"E","metadata":{"name":"n"},)";
  const json::object object = json::parse(start + now.substr(1)).get_object();
  const json::object old = json::parse(before.empty() ? "{}" : start + before.substr(1)).get_object();
  Outcome outcome;
  schema::Correlation correlation;
  RuleEvaluation evaluation(before.empty() ? nullptr : &correlation,
                            [&](std::string text) { outcome.warnings.push_back(std::move(text)); });
  evaluation.CheckResource(rules->Get(), object, before.empty() ? nullptr : &old);
  for (const meta::FieldError& error : evaluation.TakeErrors())
    outcome.errors.push_back(error.field + ": " + error.Message());
  return outcome;
}

std::string Rules(const std::string& rules) { return R"("x-kubernetes-validations":[)" + rules + "]"; }
std::string Rule(const std::string& rule) { return Rules(R"({"rule":")" + rule + R"("})"); }

TEST(Rules, AreEvaluatedAtEveryPlaceOfASchema) {
  struct Case {
    std::string properties, extra, now;
    std::vector<std::string> want;
  };
  const std::string positive = R"({"type":"integer",)" + Rule("self > 0") + "}";
  const Case cases[] = {
      {"{}",
       "," + Rule("self.metadata.name == 'x'"),
       R"({"a":1})",
       {"<nil>: Invalid value: failed rule: self.metadata.name == 'x'"}},
      {"{}", "," + Rule("self.kind == 'E' && self.apiVersion == 'e.io/v1'"), R"({"a":1})", {}},
      {R"({"a":)" + positive + "}", "", R"({"a":-1})", {"a: Invalid value: -1: failed rule: self > 0"}},
      {R"({"a":)" + positive + "}", "", R"({"a":1})", {}},
      {R"({"a":)" + positive + "}", "", R"({"b":1})", {}},
      {R"({"a":{"type":"array","items":)" + positive + "}}",
       "",
       R"({"a":[1,0,2,-3]})",
       {"a[1]: Invalid value: 0: failed rule: self > 0", "a[3]: Invalid value: -3: failed rule: self > 0"}},
      {R"({"a":{"type":"object","additionalProperties":)" + positive + "}}",
       "",
       R"({"a":{"x":1,"y":0}})",
       {"a[y]: Invalid value: 0: failed rule: self > 0"}},
      {R"({"a":{"type":"object","properties":{"b-c":{"type":"string",)" + Rule("self == 'x'") + "}}}}",
       "",
       R"({"a":{"b-c":"y"}})",
       {R"(a.b-c: Invalid value: "y": failed rule: self == 'x')"}},
      // A property that expressions can't name still has its own rules.
      {R"({"a b":)" + positive + "}", "", R"({"a b":0})", {"a b: Invalid value: 0: failed rule: self > 0"}},
      {R"({"a":{"x-kubernetes-int-or-string":true,)" + Rule("type(self) == int") + "}}",
       "",
       R"({"a":"5%"})",
       {R"(a: Invalid value: "5%": failed rule: type(self) == int)"}},
      {R"({"a":{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true,)" +
           Rule("self.metadata.name == self.kind") + "}}",
       "",
       R"({"a":{"apiVersion":"v1","kind":"X","metadata":{"name":"Y"}}})",
       {"a: Invalid value: failed rule: self.metadata.name == self.kind"}},
      // A null is not validated.
      {R"({"a":{"type":"integer","nullable":true,)" + Rule("self > 0") + "}}", "", R"({"a":null})", {}},
      // Errors of the evaluation.
      {R"({"a":{"type":"array","items":{"type":"integer"},)" + Rule("self[1] == 1") + "}}",
       "",
       R"({"a":[1]})",
       {R"(a: Invalid value: "array": index out of bounds: 1 evaluating rule: self[1] == 1)"}},
      {R"({"a":{"type":"object","properties":{"b":{"type":"integer"}},)" + Rule("self.b == 1") + "}}",
       "",
       R"({"a":{}})",
       {R"(a: Invalid value: "object": no such key: b evaluating rule: self.b == 1)"}},
  };
  for (const Case& one : cases)
    EXPECT_THAT(Evaluate(one.properties, one.extra, one.now).errors, ElementsAreArray(one.want)) << one.properties;
}

TEST(Rules, HaveMessagesReasonsAndPaths) {
  struct Case {
    std::string rule;
    std::vector<std::string> want;
  };
  const Case cases[] = {
      {R"("message":" told ")", {"a: Invalid value: told"}},
      {R"_("message":"told","messageExpression":"'b is ' + string(self.b)")_", {"a: Invalid value: b is 1"}},
      // A messageExpression that fails, or whose text can't be shown, is replaced by the message.
      {R"_("message":"told","messageExpression":"string(self.c)")_", {"a: Invalid value: told"}},
      {R"("message":"told","messageExpression":"' '")", {"a: Invalid value: told"}},
      {R"("message":"told","messageExpression":"'x\\ny'")", {"a: Invalid value: told"}},
      {R"_("messageExpression":"string(self.c)")_", {"a: Invalid value: failed rule: self.b > 1"}},
      {R"("message":"told","reason":"FieldValueForbidden")", {"a: Forbidden: told"}},
      {R"("message":"told","reason":"FieldValueRequired")", {"a: Required value: told"}},
      {R"("message":"told","reason":"FieldValueDuplicate")", {"a: Duplicate value"}},
      {R"("message":"told","reason":"FieldValueInvalid","fieldPath":".b")", {"a.b: Invalid value: told"}},
  };
  for (const Case& one : cases) {
    const std::string properties =
        R"({"a":{"type":"object","properties":{"b":{"type":"integer"},"c":{"type":"integer"}},)" +
        Rules(R"({"rule":"self.b > 1",)" + one.rule + "}") + "}}";
    EXPECT_THAT(Evaluate(properties, "", R"({"a":{"b":1}})").errors, ElementsAreArray(one.want)) << one.rule;
  }
}

TEST(Rules, CompareWithTheReplacedValue) {
  const std::string grows = R"({"type":"integer",)" + Rules(R"({"rule":"self >= oldSelf","message":"shrinks"})") + "}";
  const std::string list =
      R"({"a":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],"items":{"type":"object","required":["k"],"properties":{"k":{"type":"string"},"v":)" +
      grows + "}}}}";
  struct Case {
    std::string properties, before, now;
    std::vector<std::string> want;
  };
  const std::string optional = R"({"a":{"type":"integer",)" +
                               Rules(R"({"rule":"oldSelf.hasValue() || self == 1","optionalOldSelf":true})") + "}}";
  const Case cases[] = {
      {R"({"a":)" + grows + "}", "", R"({"a":1})", {}},
      {R"({"a":)" + grows + "}", R"({"b":1})", R"({"a":1})", {}},
      {R"({"a":)" + grows + "}", R"({"a":1})", R"({"a":2})", {}},
      {R"({"a":)" + grows + "}", R"({"a":2})", R"({"a":1})", {"a: Invalid value: 1: shrinks"}},
      {list,
       R"({"a":[{"k":"x","v":1},{"k":"y","v":5}]})",
       R"({"a":[{"k":"y","v":4},{"k":"x","v":2},{"k":"z","v":0}]})",
       {"a[0].v: Invalid value: 4: shrinks"}},
      {R"({"a":{"type":"object","additionalProperties":)" + grows + "}}",
       R"({"a":{"x":2}})",
       R"({"a":{"x":1,"y":0}})",
       {"a[x]: Invalid value: 1: shrinks"}},
      {optional, "", R"({"a":2})", {"a: Invalid value: 2: failed rule: oldSelf.hasValue() || self == 1"}},
      {optional, "", R"({"a":1})", {}},
      {optional, R"({"a":5})", R"({"a":2})", {}},
  };
  for (const Case& one : cases)
    EXPECT_THAT(Evaluate(one.properties, "", one.now, one.before).errors, ElementsAreArray(one.want)) << one.now;
}

TEST(Rules, OfUnchangedValuesOnlyWarn) {
  const std::string positive = R"({"type":"integer",)" + Rule("self > 0") + "}";
  struct Case {
    std::string properties, before, now;
    std::vector<std::string> errors, warnings;
  };
  const Case cases[] = {
      {R"({"a":)" + positive + "}", R"({"a":0})", R"({"a":0})", {}, {"a: Invalid value: 0: failed rule: self > 0"}},
      {R"({"a":)" + positive + "}", R"({"a":0})", R"({"a":-1})", {"a: Invalid value: -1: failed rule: self > 0"}, {}},
      // The items of a list without keys can't be correlated, so they are unchanged if the list is.
      {R"({"a":{"type":"array","items":)" + positive + "}}",
       R"({"a":[0]})",
       R"({"a":[0]})",
       {},
       {"a[0]: Invalid value: 0: failed rule: self > 0"}},
      {R"({"a":{"type":"array","items":)" + positive + "}}",
       R"({"a":[0]})",
       R"({"a":[0,1]})",
       {"a[0]: Invalid value: 0: failed rule: self > 0"},
       {}},
      // Rules that use oldSelf are never ratcheted.
      {R"({"a":{"type":"integer",)" + Rule("self > oldSelf") + "}}",
       R"({"a":0})",
       R"({"a":0})",
       {"a: Invalid value: 0: failed rule: self > oldSelf"},
       {}},
  };
  for (const Case& one : cases) {
    const Outcome outcome = Evaluate(one.properties, "", one.now, one.before);
    EXPECT_THAT(outcome.errors, ElementsAreArray(one.errors)) << one.now;
    EXPECT_THAT(outcome.warnings, ElementsAreArray(one.warnings)) << one.now;
  }
}

TEST(Rules, HaveABudget) {
  std::string items, many;
  for (int i = 0; i < 1000; ++i) items += (i ? ",\"" : "\"") + std::string(100, 'x') + '"';
  const std::string expensive = "self.all(a, self.all(b, a.matches('y*')))";
  const std::vector<std::string> errors =
      Evaluate(R"({"a":{"type":"array","items":{"type":"string"},)" + Rule(expensive) + "}}", "",
               R"({"a":[)" + items + "]}")
          .errors;
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_THAT(errors[0],
              ::testing::HasSubstr("'operation cancelled: actual cost limit exceeded': no further validation "
                                   "rules will be run due to call cost exceeds limit for rule: "));
  for (int i = 0; i < 500; ++i) many += (i ? ",[" : "[") + items + "]";
  const std::vector<std::string> total =
      Evaluate(R"({"a":{"type":"array","items":{"type":"array","items":{"type":"string"},)" +
                   Rule("self.all(a, a.matches('x*') && a.matches('x+') && a.matches('x*x'))") + "}}}",
               "", R"({"a":[)" + many + "]}")
          .errors;
  ASSERT_EQ(total.size(), 1u);
  EXPECT_THAT(total[0], ::testing::HasSubstr("validation failed due to running out of cost budget"));
}

TEST(Rules, AreSharedIfTheyAndTheirSchemasAreEqual) {
  const std::string same = R"({"type":"object","properties":{"x":{"type":"integer"}},)" + Rule("self.x > 0") + "}";
  const json::object schema =
      json::parse(R"({"type":"object","properties":{"a":)" + same + R"(,"b":)" + same + "}}").get_object();
  schema::Schema schemas;
  const schema::Node* node = schema::CompileOpenApi(schema, schemas);
  schemas.Seal();
  const auto tree = CompileRules(schema, *node, true);
  const CompiledRule* const shared = tree->properties.at("a").rules[0].compiled.get();
  EXPECT_EQ(tree->properties.at("b").rules[0].compiled.get(), shared);
  // Another version or definition, in which other fields differ.
  const auto rules_of_b = [&](const std::string& properties) {
    const json::object other =
        json::parse(R"({"type":"object","properties":{"c":{"type":"string"},"b":{"type":"object","properties":)" +
                    properties + "," + Rule("self.x > 0") + "}}}")
            .get_object();
    return CompileRules(other, *node, true)->properties.at("b").rules[0].compiled;
  };
  EXPECT_EQ(rules_of_b(R"({"x":{"type":"integer"}})").get(), shared);
  EXPECT_NE(rules_of_b(R"({"x":{"type":"number"}})").get(), shared);
  EXPECT_NE(rules_of_b(R"({"x":{"type":"integer"},"y":{"type":"string"}})").get(), shared);
  EXPECT_EQ(CompileRules(json::parse(R"({"type":"object"})").get_object(), *node, true), nullptr);
}

}  // namespace
}  // namespace apimesh::extensions_api
