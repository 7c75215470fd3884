#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/cel/program.h"

namespace apimesh::cel {
namespace {

const boost::json::value kClaims = boost::json::parse(R"({"sub":"jane","email":"jane@example.com","email_verified":true,
  "groups":["dev","ops"],"n":3,"ratio":0.5,"nested":{"a":{"b":"deep"},"list":[1,2,3]},"nothing":null})");

const std::map<std::string, Type> kDeclared{
    {"claims", Type::MapOf(Type())},
    {"user", Type::Object("UserInfo", {{"username", Type::Of(Type::Kind::kString)},
                                       {"groups", Type::ListOf(Type::Of(Type::Kind::kString))}})}};

// The result as JSON, "error: …", or "compile: …" (its first line).
std::string Eval(const std::string& source, std::uint64_t limit = Program::kCostLimit) {
  const auto compiled = Program::Compile(source, kDeclared);
  if (!compiled.program) return "compile: " + compiled.error.substr(0, compiled.error.find('\n'));
  const boost::json::value user = boost::json::parse(R"({"username":"jane","groups":["dev"]})");
  const Value value =
      compiled.program->Evaluate({{"claims", Value::FromJson(kClaims)}, {"user", Value::FromJson(user)}}, limit);
  return value.IsError() ? "error: " + value.AsString() : boost::json::serialize(value.ToJson());
}

struct Case {
  const char* source;
  const char* want;
};
class Expressions : public ::testing::TestWithParam<Case> {};
TEST_P(Expressions, Give) { EXPECT_EQ(Eval(GetParam().source), GetParam().want) << GetParam().source; }

const Case kOperators[] = {
    {"1 + 2 * 3", "7"},
    {"(1 + 2) * 3", "9"},
    {"7 / 2", "3"},
    {"-7 / 2", "-3"},
    {"7 % 3", "1"},
    {"2.0 * 1.5", "3E0"},
    {"1u + 2u", "3"},
    {"-9223372036854775808", "-9223372036854775808"},
    {"9223372036854775807 + 1", "error: integer overflow"},
    {"1 / 0", "error: division by zero"},
    {"0x10", "16"},
    {"1e3", "1E3"},
    {"'a' + \"b\"", "\"ab\""},
    {"[1] + [2]", "[1,2]"},
    {"1 == 1.0", "true"},
    {"1u == 1", "true"},
    {"dyn('1') == 1", "false"},
    {"'a' < 'b'", "true"},
    {"2 > 1.5", "true"},
    {"!true", "false"},
    {"true ? 1 : 2", "1"},
    {"false ? 1 : true ? 2 : 3", "2"},
    {"false && claims.missing", "false"},
    {"claims.missing && false", "false"},
    {"claims.missing || true", "true"},
    {"claims.missing && true", "error: no such key: missing"},
    {"1 in [1, 2]", "true"},
    {"'sub' in claims", "true"},
    {"'x' in claims", "false"},
    {"r'\\d' == '\\\\d'", "true"},
    {"'''a\nb'''", "\"a\\nb\""},
    {"'\\u00e9\\x41\\101'", "\"éAA\""},
    {"b'\\xff' == b'\\377'", "true"},
    {"null", "null"},
    {"{'a': 1, 'b': 2}['b']", "2"},
    {"{1: 'x'}[1]", "\"x\""},
    {"[10, 20][1]", "20"},
    {"[1][5]", "error: index out of bounds: 5"},
    {"1 + 1 // comment", "2"},
    {"{'a': 1, 'a': 2}", "error: Failed with repeated key"},
};
INSTANTIATE_TEST_SUITE_P(Operators, Expressions, ::testing::ValuesIn(kOperators));

const Case kFunctions[] = {
    {"'héllo'.size()", "5"},
    {"size([1, 2])", "2"},
    {"size(claims.groups)", "2"},
    {"'Abc'.lowerAscii()", "\"abc\""},
    {"'Abc'.upperAscii()", "\"ABC\""},
    {"'a,b,c'.split(',')", R"(["a","b","c"])"},
    {"'a,b,c'.split(',', 2)", R"(["a","b,c"])"},
    {"'añb'.split('')", R"(["a","ñ","b"])"},
    {"['a', 'b'].join('-')", "\"a-b\""},
    {"['a', 'b'].join()", "\"ab\""},
    {"'hello'.replace('l', 'L', 1)", "\"heLlo\""},
    {"'ab'.replace('', '-')", "\"-a-b-\""},
    {"'héllo'.substring(1, 3)", "\"él\""},
    {"'abc'.substring(4)", "error: index out of range: 4"},
    {"'abc'.charAt(1)", "\"b\""},
    {"'abc'.charAt(3)", "\"\""},
    {"'abcb'.indexOf('b')", "1"},
    {"'abcb'.lastIndexOf('b')", "3"},
    {"'abc'.indexOf('z')", "-1"},
    {"[1, 2, 1].lastIndexOf(1)", "2"},
    {"' x '.trim()", "\"x\""},
    {"'abc'.reverse()", "\"cba\""},
    {"'jane@x.io'.matches('^[a-z]+@')", "true"},
    {"'a1b22'.find('[0-9]+')", "\"1\""},
    {"'a1b22'.findAll('[0-9]+')", R"(["1","22"])"},
    {"'abc'.startsWith('ab') && 'abc'.endsWith('bc') && 'abc'.contains('b')", "true"},
    {"[3, 1, 2].max()", "3"},
    {"[1, 2].sum()", "3"},
    {"[1, 2].isSorted()", "true"},
    {"int('42') + int(1.9) + int(2u)", "45"},
    {"int('x')", "error: type conversion error from 'string' to 'int'"},
    {"string(1) + string(true) + string(1.5)", "\"1true1.5\""},
    {"double('1.5')", "1.5E0"},
    {"uint(3)", "3"},
    {"type(1) == int", "true"},
    {"type('a') == string", "true"},
    {"bool('true')", "true"},
    {"duration('1h30m') > duration('5400s')", "false"},
    {"duration('90s').getMinutes()", "1"},
    {"timestamp('2026-01-02T03:04:05Z').getFullYear()", "2026"},
    {"timestamp('2026-01-02T03:04:05Z') + duration('1h')", "\"2026-01-02T04:04:05Z\""},
    {"string(duration('1.5s'))", "\"1.5s\""},
    {"sets.contains([1, 2, 3], [2])", "true"},
    {"sets.intersects([1], [2])", "false"},
    {"sets.equivalent([1, 2], [2, 1, 1])", "true"},
};
INSTANTIATE_TEST_SUITE_P(Functions, Expressions, ::testing::ValuesIn(kFunctions));

const Case kDocuments[] = {
    {"claims.sub", "\"jane\""},
    {"claims['email']", "\"jane@example.com\""},
    {"claims.nested.a.b", "\"deep\""},
    {"claims.missing", "error: no such key: missing"},
    {"has(claims.sub)", "true"},
    {"has(claims.missing)", "false"},
    {"has(claims.nested.a.x)", "false"},
    {"claims.nothing == null", "true"},
    {"claims.?missing.orValue('none')", "\"none\""},
    {"claims.?nested.?a.?b.orValue('none')", "\"deep\""},
    {"claims.?nested.a.b.orValue('none')", "\"deep\""},
    {"claims.?missing.hasValue()", "false"},
    {"claims[?'sub'].orValue('x')", "\"jane\""},
    {"[?claims.?missing, ?claims.?sub]", "[\"jane\"]"},
    {"claims.groups.all(g, g.size() == 3)", "true"},
    {"claims.groups.exists(g, g == 'ops')", "true"},
    {"claims.groups.exists_one(g, g.startsWith('d'))", "true"},
    {"claims.groups.map(g, 'x:' + g)", R"(["x:dev","x:ops"])"},
    {"claims.groups.map(g, g != 'dev', g + '!')", R"(["ops!"])"},
    {"claims.groups.filter(g, g == 'dev')", R"(["dev"])"},
    {"claims.nested.list.exists(x, x > 2)", "true"},
    {"claims.nested.list.all(i, x, x == i + 1)", "true"},
    {"claims.nested.exists(k, k == 'a')", "true"},
    {"[[1, 2], [3]].all(l, l.all(x, x > 0))", "true"},
    {"{'a': 1}.transformMap(k, v, v + 1)", R"({"a":2})"},
    {"['x'].transformList(i, v, v + string(i))", R"(["x0"])"},
    {"[1, 'a'].exists(x, x > 0)", "true"},
    {"['a', 1].all(x, x > 0)", "error: no such overload"},
    {"user.groups.exists(g, g == 'dev')", "true"},
    {"claims.email_verified ? claims.email : claims.sub", "\"jane@example.com\""},
};
INSTANTIATE_TEST_SUITE_P(Documents, Expressions, ::testing::ValuesIn(kDocuments));

const Case kMistakes[] = {
    {"foo", "compile: ERROR: <input>:1:1: undeclared reference to 'foo' (in container '')"},
    {"user.nme", "compile: ERROR: <input>:1:5: undefined field 'nme'"},
    {"claims.sub.foo()", "compile: ERROR: <input>:1:15: undeclared reference to 'foo' (in container '')"},
    {"1 + 'a'", "compile: ERROR: <input>:1:3: found no matching overload for '_+_' applied to '(int, string)'"},
    {"!1", "compile: ERROR: <input>:1:1: found no matching overload for '!_' applied to '(int)'"},
    {"1 && true", "compile: ERROR: <input>:1:3: found no matching overload for '_&&_' applied to '(int, bool)'"},
    {"'a'.matches('(')", "compile: ERROR: <input>:1:13: invalid matches argument"},
    {"'a'.matches()", "compile: ERROR: <input>:1:12: found no matching overload for 'matches' applied to 'string.()'"},
    {"user.?username.orValue()",
     "compile: ERROR: <input>:1:23: found no matching overload for 'orValue' applied to 'optional_type(string).()'"},
    {"has(claims)", "compile: ERROR: <input>:1:5: invalid argument to has() macro"},
    {"5.all(x, true)",
     "compile: ERROR: <input>:1:6: expression of type 'int' cannot be range of a comprehension (must be list, map, or "
     "dynamic)"},
};
INSTANTIATE_TEST_SUITE_P(Mistakes, Expressions, ::testing::ValuesIn(kMistakes));

TEST(Cel, RefusesWhatIsNoExpression) {
  for (const char* source : {"", "1 +", "(1", "[1", "{1: 2", "a..b", "'open", "'bad \\q'", "1 2", "#", "x.all(1, true)",
                             "99999999999999999999", "f(", "?", "9223372036854775808", "has()"}) {
    EXPECT_THAT(Eval(source), ::testing::StartsWith("compile: ERROR")) << source;
  }
}

TEST(Cel, NestingIsLimited) {
  EXPECT_THAT(Eval(std::string(5'000, '(') + "1" + std::string(5'000, ')')), ::testing::HasSubstr("recursion limit"));
  EXPECT_THAT(Eval(std::string(10'000, '!') + "true"), ::testing::HasSubstr("recursion limit"));
  std::string sum = "1";
  for (int i = 0; i < 5'000; ++i) sum += "+1";
  EXPECT_THAT(Eval(sum), ::testing::HasSubstr("recursion limit"));
  std::string chain = "claims";
  for (int i = 0; i < 5'000; ++i) chain += ".a";
  EXPECT_THAT(Eval(chain), ::testing::HasSubstr("recursion limit"));
}

TEST(Cel, CostIsLimited) {
  const std::string list = "[1,2,3,4,5,6,7,8,9,10]";
  std::string loops = "true";
  for (int i = 0; i < 8; ++i) loops = fmt::format("{}.all(x{}, {})", list, i, loops);
  EXPECT_EQ(Eval(loops), "error: operation cancelled: actual cost limit exceeded");
  EXPECT_EQ(Eval("[1, 2, 3].all(x, x > 0)", 5), "error: operation cancelled: actual cost limit exceeded");
  std::string doubling = "'0123456789'";
  EXPECT_EQ(Eval("[1,2,3,4,5,6,7,8,9,10].map(x, claims.sub).join('-').size()"), "49");
}

TEST(Cel, ErrorsPointAtTheirPlace) {
  const auto compiled = Program::Compile("claims.sub ==\n  foo", kDeclared);
  EXPECT_EQ(compiled.error, "ERROR: <input>:2:3: undeclared reference to 'foo' (in container '')\n |   foo\n | ..^");
}

TEST(Cel, KnowsResultTypesAndSelections) {
  EXPECT_EQ(Program::Compile("claims.groups.exists(g, g == 'x')", kDeclared).program->ResultType().ToString(), "bool");
  EXPECT_EQ(Program::Compile("'a' + 'b'", kDeclared).program->ResultType().ToString(), "string");
  EXPECT_EQ(Program::Compile("claims.sub", kDeclared).program->ResultType().ToString(), "dyn");
  EXPECT_EQ(Program::Compile("['a']", kDeclared).program->ResultType().ToString(), "list(string)");
  const auto email = Program::Compile("has(claims.email_verified) ? claims.email : ''", kDeclared).program;
  EXPECT_TRUE(email->Selects("claims", "email") && email->Selects("claims", "email_verified"));
  EXPECT_FALSE(email->Selects("claims", "sub"));
}

}  // namespace
}  // namespace apimesh::cel
