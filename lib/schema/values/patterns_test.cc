#include "lib/schema/values/patterns.h"

#include <gtest/gtest.h>
#include <re2/re2.h>

namespace apimesh::schema {
namespace {

TEST(Patterns, AreCompiledOnce) {
  const auto one = CompilePattern("^a+$");
  EXPECT_EQ(CompilePattern("^a+$"), one);
  EXPECT_NE(CompilePattern("^b+$"), one);
  EXPECT_TRUE(re2::RE2::PartialMatch("aa", *one));
  EXPECT_FALSE(CompilePattern("(")->ok());
}

TEST(Patterns, AreForgottenWhenNothingUsesThem) {
  std::weak_ptr<const re2::RE2> one = CompilePattern("^forgotten$");
  for (int i = 0; i < 1000; ++i) CompilePattern("^" + std::to_string(i) + "$");
  EXPECT_TRUE(one.expired());
}

TEST(Patterns, MayBeLarge) {
  const auto large = CompilePattern(R"(^(\pL{1,10}){1,5}$)");
  ASSERT_TRUE(large->ok());
  EXPECT_GT(large->ProgramSize(), 5'000);
  EXPECT_TRUE(re2::RE2::PartialMatch("abc", *large));
}

}  // namespace
}  // namespace apimesh::schema
