#include "lib/base/text/format_duration.h"

#include <gtest/gtest.h>

namespace apimesh {
namespace {

TEST(FormatDuration, IsThatOfGo) {
  using std::chrono::milliseconds, std::chrono::nanoseconds;
  EXPECT_EQ(FormatDuration(nanoseconds(7)), "7ns");
  EXPECT_EQ(FormatDuration(nanoseconds(1500)), "1.5µs");
  EXPECT_EQ(FormatDuration(nanoseconds(34'050'600)), "34.0506ms");
  EXPECT_EQ(FormatDuration(nanoseconds(61'000'000'001)), "1m1.000000001s");
  EXPECT_EQ(FormatDuration(milliseconds(0)), "0s");
  EXPECT_EQ(FormatDuration(milliseconds(7)), "7ms");
  EXPECT_EQ(FormatDuration(milliseconds(1500)), "1.5s");
  EXPECT_EQ(FormatDuration(milliseconds(60'000)), "1m0s");
  EXPECT_EQ(FormatDuration(milliseconds(3'600'000)), "1h0m0s");
  EXPECT_EQ(FormatDuration(milliseconds(90'061'001)), "25h1m1.001s");
  EXPECT_EQ(FormatDuration(milliseconds(-2000)), "-2s");
}

}  // namespace
}  // namespace apimesh
