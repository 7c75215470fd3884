#include "lib/base/text/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace apimesh {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Text, LowerCaseChangesAsciiOnly) {
  EXPECT_EQ(LowerCase("X-Remote-User_9"), "x-remote-user_9");
  EXPECT_EQ(LowerCase("\xc3\x84"), "\xc3\x84");
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
