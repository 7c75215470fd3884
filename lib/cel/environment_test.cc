#include "lib/cel/environment.h"

#include <filesystem>
#include <fstream>

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "lib/cel/program.h"

namespace apimesh::cel {
namespace {

// The lines say which versions of kube-apiserver's environment, from 25 to 36, compile an expression.
TEST(Environment, EachVersionHasTheFunctionsOfKubeApiserver) {
  const auto root = std::filesystem::path(__FILE__).parent_path().parent_path().parent_path();
  std::ifstream file(root / "tests/cel/versions/expected.jsonl");
  ASSERT_TRUE(file);
  int count = 0;
  for (std::string line; std::getline(file, line); ++count) {
    const boost::json::object want = boost::json::parse(line).get_object();
    const std::string expression(want.at("expr").get_string());
    boost::json::array minors;
    for (int minor = 25; minor <= 36; ++minor) {
      Program::Scope scope;
      scope.declarations = &BaseEnvironment(minor);
      scope.variables.push_back({"authorizer", Type::Object("kubernetes.authorization.Authorizer")});
      const auto compiled = Program::Compile(expression, scope);
      if (compiled.program || compiled.instantiation_failed) minors.push_back(minor);
    }
    EXPECT_EQ(boost::json::serialize(minors), boost::json::serialize(want.at("minors"))) << expression;
  }
  EXPECT_GE(count, 80);
}

}  // namespace
}  // namespace apimesh::cel
