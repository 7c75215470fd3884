#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

#include "lib/admission/expressions/match_conditions.h"
#include "lib/admission/expressions/request_variable.h"
#include "lib/admission/testing_cluster.h"

namespace apimesh::admission {
namespace {

namespace json = meta::json;

struct ConditionCase {
  std::string name;
  std::string conditions;  // JSON list of [name, expression]
  bool matches = true;
  std::string failed_condition, error;
  MatchConditions::FailurePolicy policy = MatchConditions::FailurePolicy::kFail;
};

class MatchConditionsTest : public ::testing::TestWithParam<ConditionCase> {
 protected:
  static json::array Conditions(const std::string& text) {
    json::array out;
    const json::value pairs = json::parse(text);
    for (const json::value& pair : pairs.as_array())
      out.push_back(json::object{{"name", pair.at(0)}, {"expression", pair.at(1)}});
    return out;
  }

  MatchConditions::Result Match(const json::array& conditions, MatchConditions::FailurePolicy policy) {
    const ExpressionScope scope(cel::kCurrentMinor, false);
    const MatchConditions compiled(&conditions, scope, {.authorizer = true}, policy, {}, nullptr, nullptr);
    meta::Object object = Parse(R"({"metadata":{"name":"a","labels":{"x":"1"}},"spec":{"replicas":3}})");
    Attributes attributes;
    attributes.operation = Operation::kCreate;
    attributes.kind = {"apps", "v1", "Deployment"};
    attributes.resource = {"apps", "v1", "deployments"};
    attributes.ns = "ns";
    attributes.name = "a";
    attributes.object = &object;
    meta::RequestContext::State state;
    state.user = {.name = "jane", .uid = "", .groups = {"g"}, .extra = {}};
    const meta::RequestContext ctx(state);
    const json::object request = RequestVariable(ctx, attributes, attributes.kind, attributes.resource);
    ExpressionInputs inputs;
    inputs.object = &object.Root();
    inputs.request = &request;
    inputs.attributes = &attributes;
    AuthorizerAnswers answers(auth_);
    inputs.authorizer = &answers;
    for (;;) {
      cel::Evaluation evaluation;
      const MatchConditions::Outcome outcome = compiled.Evaluate(inputs, nullptr, evaluation);
      if (!outcome.provisional) return compiled.Conclude(outcome, &attributes);
      testing::RunTask(answers.Ask(ctx));
    }
  }

  std::shared_ptr<FakeAuth> auth_ = std::make_shared<FakeAuth>();
};

TEST_P(MatchConditionsTest, DecidesLikeTheReference) {
  auth_->decide = [](const service::AccessQuestion& question) -> meta::Result<service::AccessDecision> {
    service::AccessDecision decision;
    decision.allowed = question.user.name == "jane" && question.info.verb.Text() == "get" && question.info.name == "a";
    if (question.user.name == "system:serviceaccount:x:y") decision.allowed = question.user.groups.size() == 2;
    return decision;
  };
  const MatchConditions::Result result = Match(Conditions(GetParam().conditions), GetParam().policy);
  EXPECT_EQ(result.matches, GetParam().matches);
  EXPECT_EQ(result.failed_condition, GetParam().failed_condition);
  EXPECT_EQ(result.error, GetParam().error);
}

constexpr auto kIgnore = MatchConditions::FailurePolicy::kIgnore;
const ConditionCase kCases[] = {
    {"None", "[]"},
    {"True", R"j([["a","object.spec.replicas == 3"]])j"},
    {"False", R"j([["a","true"],["b","object.spec.replicas > 3"]])j", false, "b"},
    {"OldObjectIsNull", R"j([["a","oldObject == null"]])j"},
    {"FalseDecidesOverErrors", R"j([["a","object.spec.nothing == 1"],["b","false"]])j", false, "b"},
    {"Error", R"j([["a","object.spec.nothing == 1"],["b","true"]])j", false, "",
     "expression 'object.spec.nothing == 1' resulted in error: no such key: nothing"},
    {"Errors", R"j([["a","object.spec.x == 1"],["b","object.spec.y == 1"]])j", false, "",
     "[expression 'object.spec.x == 1' resulted in error: no such key: x, expression 'object.spec.y == 1' resulted in "
     "error: no such key: y]"},
    {"ErrorIsIgnored", R"j([["a","object.spec.nothing == 1"]])j", false, "", "", kIgnore},
    {"NotBool", R"j([["a","1"]])j", false, "", "compilation error: must evaluate to bool but got int"},
    {"Request",
     R"j([["a","request.userInfo.username == 'jane' && request.kind.group == 'apps' && !request.dryRun"]])j"},
    {"RequestFields",
     R"j([["a","!has(request.subResource) && request.operation == 'CREATE' && request.options == null"]])j"},
    {"Authorizer", R"j([["a","authorizer.group('').resource('pods').name('a').check('get').allowed()"]])j"},
    {"AuthorizerTwice",
     R"j([["a","authorizer.requestResource.check('get').allowed() && !authorizer.requestResource.check('list').allowed()"]])j"},
    {"ServiceAccount", R"j([["a","authorizer.serviceAccount('x','y').path('/x').check('list').allowed()"]])j"},
    {"Variables", R"j([["a","variables.x"]])j", false, "",
     "compilation error: compilation failed: ERROR: <input>:1:1: undeclared reference to 'variables' (in container "
     "'')\n | variables.x\n | ^"},
    {"Budget",
     R"j([["a","[1,2,3].all(x, authorizer.path('/' + string(x)).check('get').allowed() || true)"],["b","[1,2].all(x, authorizer.path('/' + string(x)).check('get').allowed() || true)"],["c","[1,2].all(x, authorizer.path('/' + string(x)).check('get').allowed() || true)"],["d","[1,2].all(x, authorizer.path('/' + string(x)).check('get').allowed() || true)"]])j",
     false, "", std::string(kOutOfBudget)},
};
INSTANTIATE_TEST_SUITE_P(Table, MatchConditionsTest, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.name; });

TEST(Activation, EvaluatesComposedVariablesOnce) {
  ExpressionScope scope(cel::kCurrentMinor, true);
  const ExpressionOptions options;
  std::vector<NamedExpression> variables;
  const auto add = [&](const char* name, const char* source) {
    ExpressionPtr compiled = CompileExpression(source, scope, options, ExpressionResult::kAny);
    scope.AddVariable(name, compiled->program ? compiled->program->ResultType() : nullptr);
    variables.push_back({name, std::move(compiled)});
  };
  add("replicas", "object.spec.replicas");
  add("double", "variables.replicas * 2");
  add("broken", "object.spec.none");
  add("wrong", "1 + ");
  const meta::Object object = Parse(R"({"spec":{"replicas":3}})");
  ExpressionInputs inputs;
  inputs.object = &object.Root();
  cel::Evaluation evaluation;
  Activation activation(inputs, &variables, evaluation, Activation::kBudget);
  const auto evaluate = [&](const char* source) {
    return *activation.Evaluate(*CompileExpression(source, scope, options, ExpressionResult::kBool));
  };
  EXPECT_TRUE(evaluate("variables.double == 6").value.IsTrue());
  const std::int64_t before = activation.RemainingBudget();
  EXPECT_TRUE(evaluate("variables.double == 6").value.IsTrue());
  EXPECT_EQ(before - activation.RemainingBudget(), 3);
  EXPECT_EQ(
      evaluate("variables.broken == 6").error,
      "expression 'variables.broken == 6' resulted in error: composited variable \"broken\" fails to evaluate: no "
      "such key: none");
  EXPECT_THAT(evaluate("variables.wrong == 6").error,
              ::testing::HasSubstr("composited variable \"wrong\" fails to compile: compilation failed: ERROR"));
  EXPECT_THAT(evaluate("variables.unknown == 6").error, ::testing::HasSubstr("undefined field 'unknown'"));
}

TEST(CompileExpression, SharesEqualExpressions) {
  const ExpressionScope one(cel::kCurrentMinor, true), other(cel::kCurrentMinor, true);
  const auto a = CompileExpression("object.a == 1", one, {}, ExpressionResult::kBool);
  EXPECT_EQ(a, CompileExpression("object.a == 1", other, {}, ExpressionResult::kBool));
  EXPECT_NE(a, CompileExpression("object.a == 1", other, {.params = true}, ExpressionResult::kBool));
  EXPECT_EQ(CompileExpression("object", one, {}, ExpressionResult::kStringOrNull)->error,
            "must evaluate to one of [string null_type] but got dyn");
  EXPECT_EQ(CompileExpression("[1]", one, {.patch_types = true}, ExpressionResult::kJsonPatches)->error,
            "must evaluate to list(JSONPatch) but got list(int)");
  EXPECT_THAT(
      CompileExpression("[JSONPatch{foo: 1}]", one, {.patch_types = true}, ExpressionResult::kJsonPatches)->error,
      ::testing::HasSubstr("1:15: expected type of field 'foo' is '' but provided type is 'int'"));
  EXPECT_TRUE(CompileExpression("[JSONPatch{op: 'add', path: '/a', value: Object.spec{a: 1}}]", one,
                                {.patch_types = true}, ExpressionResult::kJsonPatches)
                  ->program);
  EXPECT_TRUE(CompileExpression("Object{spec: Object.spec{a: jsonpatch.escapeKey('x')}}", one, {.patch_types = true},
                                ExpressionResult::kApplyConfiguration)
                  ->program);
}

}  // namespace
}  // namespace apimesh::admission
