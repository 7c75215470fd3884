#include <fstream>
#include <regex>

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

#include "lib/base/file.h"
#include "services/extensions-api/validations/rule.h"

namespace apimesh::extensions_api {
namespace {

namespace json = boost::json;

std::filesystem::path Folder() {
  return std::filesystem::path(__FILE__).parent_path().parent_path().parent_path().parent_path() / "tests/cel/rules";
}

// tests/cel/rules/expected.jsonl has what kube-apiserver says about each rule: errors, the largest cost, and how many
// values of the schema fit into a request.
TEST(RuleTable, IsCompiledAsByKubeApiserver) {
  const json::value schemas = json::parse(*ReadFile(Folder() / "schemas.json"));
  const std::regex number("selfType\\d+");
  std::ifstream file(Folder() / "expected.jsonl");
  std::size_t count = 0;
  for (std::string line; std::getline(file, line); ++count) {
    const json::object want = json::parse(line).get_object();
    const json::object& schema = schemas.at(want.at("schema").get_string()).get_object();
    const SelfType self = MakeSelfType(schema, schema.contains("x-kubernetes-embedded-resource"));
    ASSERT_TRUE(self.shape) << line;
    ValidationRule rule;
    rule.rule = want.at("expr").get_string();
    CompileOptions options;
    options.estimate = true;
    const CompiledRule have = CompileRule(rule, self, options);
    const json::value* error = want.if_contains("error");
    EXPECT_EQ(std::regex_replace(have.error, number, "selfType"),
              error ? std::string(error->get_string()) : std::string())
        << line;
    EXPECT_EQ(have.max_cost, want.at("cost").to_number<std::uint64_t>()) << line;
    EXPECT_EQ(have.uses_old_self, want.at("oldSelf").get_bool()) << line;
    if (error) continue;
    EXPECT_EQ(3 * 1024 * 1024 / (self.shape->min_serialized_size + 1),
              want.at("cardinality").to_number<std::uint64_t>())
        << line;
  }
  EXPECT_GE(count, 800u);
}

}  // namespace
}  // namespace apimesh::extensions_api
