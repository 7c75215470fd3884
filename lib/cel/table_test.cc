#include <fstream>
#include <set>

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

#include "lib/base/file.h"
#include "lib/cel/library/library.h"
#include "lib/cel/program.h"
#include "lib/cel/schema/schema_types.h"
#include "lib/cel/value/text.h"
#include "lib/cel/value/time.h"

namespace apimesh::cel {
namespace {

using boost::json::value;

std::filesystem::path Folder() {
  return std::filesystem::path(__FILE__).parent_path().parent_path().parent_path() / "tests/cel";
}

value ReadJson(const char* name) { return boost::json::parse(*ReadFile(Folder() / name)); }

/// The variables of the table, which the program in tests/cel/reference declares in the same way.
class Table {
 public:
  Table() : document_(ReadJson("document.json")), schema_(ReadJson("schema.json")) {
    declarations_ = BaseEnvironment(36);
    AddJsonPatch(declarations_);
    const ShapeRef self = ShapeOfSchema(schema_.get_object(), "selfType", true);
    shape_ = self;
    auto types = std::make_shared<ShapeTypes>();
    types->Add(self);
    scope_.declarations = &declarations_;
    scope_.types = types;
    Arena& arena = evaluation_.arena;
    Add("object", Type::Dyn(), Value::FromJson(document_.at("object"), arena));
    Add("params", Type::Map(Type::String(), Type::Dyn()), Value::FromJson(document_.at("params"), arena));
    Add("i", Type::Int(), Value::Int(7));
    Add("u", Type::Uint(), Value::Uint(9));
    Add("d", Type::Double(), Value::Double(2.5));
    Add("s", Type::String(), Value::String("grüße"));
    Add("b", Type::Bool(), Value::Bool(true));
    Add("x", Type::Bytes(), Value::Bytes("bytes"));
    Add("ints", Type::List(Type::Int()), Value::FromJson(ints_, arena));
    Add("strs", Type::List(Type::String()), Value::FromJson(strs_, arena));
    Add("labels", Type::Map(Type::String(), Type::String()), Value::FromJson(labels_, arena));
    Add("t", Type::Timestamp(), *ParseTimestamp("2026-03-04T05:06:07.891Z"));
    Add("dur", Type::Duration(), Value::Duration(*ParseDuration("90m30.5s")));
    Add("absent", Type::String(), Value::Unset());
    Add("self", self->type, Value::FromJson(document_.at("self"), self.get(), arena));
  }

  /// The answer in the form of the table.
  boost::json::object Answer(const std::string& expression) {
    boost::json::object out{{"expr", expression}};
    std::string source = expression;
    for (std::size_t at; (at = source.find("⏎")) != std::string::npos;) source.replace(at, 3, "\n");
    const auto compiled = Program::Compile(source, scope_);
    if (!compiled.program) {
      out[compiled.instantiation_failed ? "plan" : "compile"] = compiled.error;
      return out;
    }
    out["type"] = compiled.program->ResultType()->ToDeclaration();
    const CostRange estimate = compiled.program->EstimateCost(nullptr);
    out["min"] = estimate.min;
    out["max"] = estimate.max;
    const Value result = compiled.program->Evaluate(variables_, evaluation_);
    out["cost"] = evaluation_.cost;
    if (result.IsError()) {
      out["error"] = result.AsString();
    } else {
      out["value"] = ToLiteral(result, evaluation_.arena);
    }
    return out;
  }

 private:
  void Add(const char* name, TypeRef type, Value value) {
    scope_.variables.push_back({name, std::move(type)});
    variables_.push_back(value);
  }

  const value document_, schema_;
  const value ints_{1, 2, 3}, strs_{"a", "b", "c"}, labels_{{"app", "web"}, {"tier", "front"}};
  ShapeRef shape_;
  Declarations declarations_;
  Program::Scope scope_;
  std::vector<Value> variables_;
  Evaluation evaluation_;
};

std::string TextOf(const boost::json::object& answer, std::string_view key) {
  const value* found = answer.if_contains(key);
  return !found ? "" : found->is_string() ? std::string(found->get_string()) : boost::json::serialize(*found);
}

// Expressions whose answers are known to differ, with the reason in the file.
std::set<std::string> Differences() {
  std::set<std::string> out;
  std::ifstream file(Folder() / "differences.txt");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with('#')) out.insert(line);
  }
  return out;
}

// The first part of the answers that differs.
std::string Difference(const boost::json::object& have, const boost::json::object& want) {
  std::vector<const char*> keys{"compile", "plan", "value", "error"};
  if (!want.if_contains("plan")) keys.push_back("type");
  if (!want.if_contains("compile") && !want.if_contains("plan")) keys.insert(keys.end(), {"cost", "min", "max"});
  for (const char* key : keys) {
    if (TextOf(have, key) != TextOf(want, key))
      return fmt::format("{}\n  have {}\n  want {}", key, TextOf(have, key), TextOf(want, key));
  }
  return "";
}

class Expressions : public ::testing::TestWithParam<const char*> {};

TEST_P(Expressions, AreAnsweredAsByKubeApiserver) {
  Table table;
  std::ifstream file(Folder() / "expected" / (GetParam() + std::string(".jsonl")));
  ASSERT_TRUE(file) << GetParam();
  const std::set<std::string> known = Differences();
  for (std::string line; std::getline(file, line);) {
    const boost::json::object want = boost::json::parse(line).get_object();
    const std::string expression(want.at("expr").get_string());
    const std::string difference = Difference(table.Answer(expression), want);
    if (known.count(expression)) {
      EXPECT_NE(difference, "") << expression << " no longer differs: remove it from differences.txt";
    } else {
      EXPECT_EQ(difference, "") << expression;
    }
  }
}

// tests/cel/compare_random makes the file of answers, and reads the differences.
TEST(RandomExpressions, AreAnsweredAsByKubeApiserver) {
  const char* path = std::getenv("APIMESH_CEL_ANSWERS");
  if (!path) GTEST_SKIP() << "APIMESH_CEL_ANSWERS names no file with answers";
  std::ifstream answers(path);
  ASSERT_TRUE(answers) << path;
  std::ofstream differences(path + std::string(".differences"));
  constexpr int kExpressionsPerTable = 1'000;  // a table keeps the memory of all its evaluations
  std::optional<Table> table;
  int count = 0, different = 0;
  for (std::string line; std::getline(answers, line); ++count) {
    if (count % kExpressionsPerTable == 0) table.emplace();
    const boost::json::object want = boost::json::parse(line).get_object();
    const std::string expression(want.at("expr").get_string());
    const std::string difference = Difference(table->Answer(expression), want);
    if (difference.empty()) continue;
    ++different;
    differences << boost::json::serialize(boost::json::value{{"expr", expression}, {"difference", difference}}) << '\n';
  }
  RecordProperty("expressions", count);
  RecordProperty("different", different);
}

INSTANTIATE_TEST_SUITE_P(Table, Expressions,
                         ::testing::Values("operators", "mixed", "logic", "conversions", "literals", "macros",
                                           "optionals", "strings", "format", "lists", "sets", "time", "net", "quantity",
                                           "semver", "formats", "schema", "dynamic", "errors", "conformance",
                                           "messages"));

}  // namespace
}  // namespace apimesh::cel
