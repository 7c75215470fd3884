#include "lib/cel/program.h"

#include <boost/json/parse.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/cel/library/authorizer.h"
#include "lib/cel/value/collections.h"
#include "lib/cel/value/text.h"

namespace apimesh::cel {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

Program::Scope ClaimsScope() {
  Program::Scope scope;
  scope.variables = {{"claims", Type::Map(Type::String(), Type::Dyn())}};
  return scope;
}

std::string Eval(const std::string& source, std::uint64_t limit = Evaluation::kCostLimit) {
  static const boost::json::value claims = boost::json::parse(R"({"sub":"jane","groups":["dev","ops"]})");
  const auto compiled = Program::Compile(source, ClaimsScope());
  if (!compiled.program) return "compile: " + compiled.error;
  Evaluation evaluation;
  evaluation.cost_limit = limit;
  const Value variables[] = {Value::FromJson(claims, evaluation.arena)};
  const Value value = compiled.program->Evaluate(variables, evaluation);
  return value.IsError() ? "error: " + std::string(value.AsString()) : ToLiteral(value, evaluation.arena);
}

TEST(Program, BindsVariables) {
  const auto eval = [](const std::string& source) {
    Program::Scope scope;
    scope.declarations = &BindingEnvironment(kCompatibilityMinor);
    scope.variables = {{"any", Type::Any()}};
    const auto compiled = Program::Compile(source, scope);
    if (!compiled.program) return compiled.error;
    Evaluation evaluation;
    const Value variables[] = {Value::Int(3)};
    return ToLiteral(compiled.program->Evaluate(variables, evaluation), evaluation.arena);
  };
  EXPECT_EQ(eval("cel.bind(a, any + 1, cel.bind(b, a * 2, a + b))"), "12");
  EXPECT_THAT(eval("cel.bind(a.b, 1, 2)"), HasSubstr("cel.bind() variable names must be simple identifiers"));
  EXPECT_THAT(eval("any.exists(x, x)"), HasSubstr("expression of type 'any' cannot be range of a comprehension"));
  EXPECT_THAT(Eval("cel.bind(a, 1, a)"), HasSubstr("undeclared reference to 'cel'"));
}

TEST(Program, NestingIsLimited) {
  EXPECT_THAT(Eval(std::string(5'000, '(') + "1" + std::string(5'000, ')')), HasSubstr("recursion limit"));
  EXPECT_EQ(Eval(std::string(10'000, '!') + "true"), "true");
  std::string sum = "1", chain = "claims", both = "true";
  for (int i = 0; i < 5'000; ++i) {
    sum += "+1";
    chain += ".a";
    both += "&&true";
  }
  EXPECT_THAT(Eval(sum), HasSubstr("max recursion depth exceeded"));
  EXPECT_THAT(Eval(chain), HasSubstr("max recursion depth exceeded"));
  EXPECT_EQ(Eval(both), "true") << "chains of && are balanced";
}

// A chain of n optMap() has 2^n copies of its first operand.
TEST(Program, CopiesOfMacrosAreLimited) {
  const auto chain = [](int length) {
    std::string source = "optional.of(1)";
    for (int i = 0; i < length; ++i) source += i % 2 == 0 ? ".optMap(x, x + 1)" : ".optFlatMap(x, optional.of(x))";
    return source + ".value()";
  };
  EXPECT_EQ(Eval(chain(4)), "3");
  EXPECT_THAT(Eval(chain(40)), HasSubstr("too many nested optional macros"));
  std::string terms = "0";
  for (int i = 0; i < 2'000; ++i) terms += fmt::format(", optional.of({}).optMap(x, x).value()", i);
  EXPECT_EQ(Eval(fmt::format("[{}].size()", terms)), "2001") << "many short chains are not limited";
}

TEST(Program, LengthIsLimited) {
  EXPECT_THAT(Eval("'" + std::string(100'000, 'a') + "'"),
              HasSubstr("expression code point size exceeds limit: size: 100002, limit 100000"));
}

TEST(Program, CostIsLimited) {
  const std::string exceeded = "error: operation cancelled: actual cost limit exceeded";
  std::string loops = "true";
  for (int i = 0; i < 8; ++i) loops = fmt::format("[1,2,3,4,5,6,7,8,9,10].all(x{}, {})", i, loops);
  EXPECT_EQ(Eval(loops), exceeded);
  EXPECT_EQ(Eval("[1, 2, 3].all(x, x > 0)", 5), exceeded);
  EXPECT_EQ(Eval("[1, 2, 3].all(x, x > 0) || true", 5), exceeded) << "no operator discards it";
  EXPECT_EQ(Eval("lists.range(1000000000000).size()"), exceeded);
  // A text of 10,000 characters; each expression would make gigabytes from it.
  const std::string text = "'" + std::string(10'000, 'x') + "'", ten = "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]";
  EXPECT_EQ(Eval(text + ".replace('x', " + text + ").size()"), exceeded);
  EXPECT_EQ(Eval(text + ".replace('', " + text + ").size() > 0 || true"), exceeded);
  EXPECT_EQ(Eval(text + ".split('').map(x, " + text + ").join().size()"), exceeded);
  EXPECT_EQ(Eval("'%s'.format([" + text + ".split('').map(x, " + text + ")]).size()"), exceeded);
  EXPECT_EQ(Eval(ten + ".all(a, " + ten + ".all(b, " + ten + ".all(c, " + ten + ".all(d, 'x'.replace('x', " + text +
                 ").size() > 0))))"),
            exceeded);
}

TEST(Program, ErrorsHaveAPosition) {
  EXPECT_EQ(Eval("claims.sub ==\n  foo"),
            "compile: ERROR: <input>:2:3: undeclared reference to 'foo' (in container '')\n |   foo\n | ..^");
}

TEST(Program, KnowsSelectionsAndVariables) {
  const auto email =
      Program::Compile("has(claims.email_verified) ? claims.?email.orValue('') : ''", ClaimsScope()).program;
  EXPECT_TRUE(email->Selects("claims", "email") && email->Selects("claims", "email_verified"));
  EXPECT_FALSE(email->Selects("claims", "sub"));
  EXPECT_TRUE(email->Uses("claims"));
  EXPECT_FALSE(Program::Compile("1 == 1", ClaimsScope()).program->Uses("claims"));
}

TEST(Program, MapsOfManyEntriesAreBuiltInLinearTime) {
  EXPECT_EQ(Eval("lists.range(20000).transformMapEntry(i, v, {string(v): i})['19999']", 10'000'000), "19999");
}

TEST(Environment, HasTheFunctionsOfItsVersion) {
  struct Case {
    const char* source;
    int since;
  };
  for (const Case& c :
       {Case{"url('/a').getHost() == ''", 23}, Case{"[1].sum() == 1", 23}, Case{"1 < 1.5", 28},
        Case{"optional.of(1).hasValue()", 28}, Case{"isQuantity('1')", 28}, Case{"'%d'.format([1]) == '1'", 29},
        Case{"sets.contains([1], [1])", 29}, Case{"isIP('::1')", 30}, Case{"cidr('::/0').prefixLength() == 0", 30},
        Case{"format.uuid().validate('').hasValue()", 31}, Case{"[1].all(i, v, v > i)", 32},
        Case{"isSemver('1.2.3')", 33}, Case{"[2, 1].sort() == [1, 2]", 34}}) {
    Program::Scope scope;
    scope.declarations = &BaseEnvironment(c.since);
    EXPECT_TRUE(Program::Compile(c.source, scope).program) << c.source;
    if (c.since == 23) continue;
    scope.declarations = &BaseEnvironment(c.since - 1);
    EXPECT_THAT(Program::Compile(c.source, scope).error, StartsWith("ERROR: ")) << c.source;
  }
}

class FakeAuthorizer : public Authorizer {
 public:
  AuthorizationAnswer Authorize(const AuthorizationQuestion& q) const override {
    AuthorizationAnswer out;
    out.allowed = q.verb == "get" && q.group == "apps" && q.resource == "deployments" && q.subresource == "scale" &&
                  q.namespace_name == "ns" && q.name == "web" && q.label_selector == "a=b" &&
                  q.service_account_name == "robot";
    out.allowed = out.allowed || (q.path == "/healthz" && q.verb == "get");
    out.reason = out.allowed ? "yes" : "no";
    return out;
  }
};

TEST(AuthorizerLibrary, AsksTheAuthorizer) {
  struct Case {
    const char* source;
    const char* want;
  };
  Program::Scope scope;
  scope.variables = {{"authorizer", Type::Object("kubernetes.authorization.Authorizer")}};
  for (const Case& c :
       {Case{"authorizer.serviceAccount('ns', 'robot').group('apps').resource('deployments').subresource('scale')"
             ".namespace('ns').name('web').labelSelector('a=b').check('get').allowed()",
             "true"},
        Case{"authorizer.group('apps').resource('deployments').check('get').reason()", "\"no\""},
        Case{"authorizer.path('/healthz').check('get').allowed()", "true"},
        Case{"authorizer.path('/healthz').check('get').errored()", "false"},
        Case{"authorizer.path(' ')", "error: path must not be empty"},
        Case{"authorizer.group('').resource('')", "error: resource must not be empty"},
        Case{"authorizer.serviceAccount('a b', 'c')", "error: Invalid service account namespace"}}) {
    const auto compiled = Program::Compile(c.source, scope);
    ASSERT_TRUE(compiled.program) << compiled.error;
    Evaluation evaluation;
    const FakeAuthorizer authorizer;
    const Value variables[] = {AuthorizerValue(authorizer, evaluation.arena)};
    const Value value = compiled.program->Evaluate(variables, evaluation);
    EXPECT_EQ(value.IsError() ? "error: " + std::string(value.AsString()) : ToLiteral(value, evaluation.arena), c.want);
  }
}

}  // namespace
}  // namespace apimesh::cel
