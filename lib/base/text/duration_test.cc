#include "lib/base/text/duration.h"

#include <gtest/gtest.h>

namespace apimesh {
namespace {

TEST(Duration, IsRefusedWhereGoHasNone) {
  EXPECT_EQ(ParseDuration("2562047h"), std::chrono::hours(2562047));  // the longest in whole hours
  for (const char* text : {"2562048h", "333333333333333333333333333333333333333333333333333333337s", "2000000h2000000h",
                           "infs", "nans", "-1s", "1", "s", ""}) {
    EXPECT_FALSE(ParseDuration(text)) << text;
  }
}

}  // namespace
}  // namespace apimesh
