#include "lib/base/text/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/base/text/trim.h"

namespace apimesh {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Text, LowerCaseChangesAsciiOnly) {
  EXPECT_EQ(LowerCase("X-Remote-User_9"), "x-remote-user_9");
  EXPECT_EQ(LowerCase("\xc3\x84"), "\xc3\x84");
}

TEST(Text, EqualsIgnoreCaseFoldsAsciiOnly) {
  EXPECT_TRUE(EqualsIgnoreCase("Bearer", "bEARER"));
  EXPECT_TRUE(EqualsIgnoreCase("", ""));
  EXPECT_FALSE(EqualsIgnoreCase("bearer", "bearers"));
  EXPECT_FALSE(EqualsIgnoreCase("[", "{"));
  EXPECT_FALSE(EqualsIgnoreCase("\xc3\x84", "\xc3\xa4"));
}

TEST(Text, TrimSpaceRemovesAsciiWhiteSpaceAround) {
  EXPECT_EQ(TrimSpace(" \t\r\na b\v\f "), "a b");
  EXPECT_EQ(TrimSpace(" \n"), "");
  EXPECT_EQ(TrimSpace(""), "");
}

TEST(Text, SplitKeepsEmptyParts) {
  EXPECT_THAT(Split("a,,b,", ','), ElementsAre("a", "", "b", ""));
  EXPECT_THAT(Split("", ','), ElementsAre(""));
}

TEST(Text, AnEmptyListHasNoParts) {
  EXPECT_THAT(SplitList(""), IsEmpty());
  EXPECT_THAT(SplitList("a;b", ';'), ElementsAre("a", "b"));
}

}  // namespace
}  // namespace apimesh
