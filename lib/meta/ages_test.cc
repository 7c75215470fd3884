#include "lib/meta/ages.h"

#include <random>

#include <gtest/gtest.h>

#include "lib/meta/time.h"

namespace apimesh::meta {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

/// Returns each span at which the format of the text changes, and spans slightly below and above it.
std::vector<nanoseconds> Spans() {
  std::vector<nanoseconds> spans;
  for (const std::chrono::seconds edge :
       {-3s, -2s, -1s, 0s, 1s, 119s, 120s, 121s, 599s, 600s, 601s, std::chrono::seconds(180min),
        std::chrono::seconds(8h), std::chrono::seconds(48h), std::chrono::seconds(192h),
        std::chrono::seconds(24h * 730), std::chrono::seconds(24h * 365 * 8), std::chrono::seconds(24h * 365 * 100)}) {
    for (const nanoseconds off : {nanoseconds(-24h), nanoseconds(-1h), nanoseconds(-1min), nanoseconds(-1s), -1ns, 0ns,
                                  1ns, nanoseconds(500ms), nanoseconds(1min)}) {
      spans.push_back(edge + off);
    }
  }
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) spans.emplace_back(static_cast<std::int64_t>(random() >> (1 + random() % 40)));
  return spans;
}

TEST(Ages, HoldUntilTheTextChangesAndNoLonger) {
  for (const nanoseconds span : Spans()) {
    nanoseconds until{};
    const std::string text = HumanDuration(span, &until);
    ASSERT_GT(until, span) << text;
    if (until == nanoseconds::max()) continue;
    ASSERT_EQ(HumanDuration(until - 1ns), text) << span.count();
    ASSERT_NE(HumanDuration(until), text) << span.count();
    ASSERT_EQ(HumanDuration(span + (until - span) / 2), text) << span.count();
  }
}

TEST(Ages, SeveralHoldAsLongAsTheShortest) {
  const WallTime now = *ParseTime("2026-01-03T00:00:30Z");
  Ages ages(now);
  EXPECT_EQ(ages.Until(), WallTime::max());
  EXPECT_EQ(ages.Of(""), "<unknown>");
  EXPECT_EQ(ages.Until(), WallTime::max()) << "what is no time does not change";
  EXPECT_EQ(ages.Of("2026-01-01T00:00:00Z"), "2d");
  EXPECT_EQ(ages.Until(), *ParseTime("2026-01-03T01:00:00Z"));
  EXPECT_EQ(ages.Of("2026-01-02T23:00:15Z"), "60m");
  EXPECT_EQ(ages.Until(), *ParseTime("2026-01-03T00:01:15Z"));
  EXPECT_EQ(ages.Of("2000-01-01T00:00:00Z"), "26y");
  EXPECT_EQ(ages.Until(), *ParseTime("2026-01-03T00:01:15Z"));
}

TEST(Ages, BeyondWhatTheClockCounts) {
  Ages ages(*ParseTime("2026-01-01T00:00:00Z"));
  EXPECT_EQ(ages.Of("1680-01-01T00:00:00Z"), "292y");
  EXPECT_EQ(ages.Until(), WallTime::max());
  EXPECT_EQ(ages.Of("2261-01-01T00:00:00Z"), "<invalid>");
  EXPECT_LT(ages.Until(), WallTime::max());
}

}  // namespace
}  // namespace apimesh::meta
