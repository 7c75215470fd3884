#include "lib/http2/frame_limit.h"

#include <gtest/gtest.h>
#include <nghttp2/nghttp2.h>

#include "lib/testing/manual_clock.h"

namespace apimesh::http2 {
namespace {

TEST(FrameLimit, CountsOnlyFramesWithoutContent) {
  const testing::ManualClock clock;
  FrameLimit limit(Limits(), clock);
  for (int i = 0; i < 1'000'000; ++i) {
    ASSERT_TRUE(limit.CountFrame(NGHTTP2_DATA, 0, 1));
    ASSERT_TRUE(limit.CountFrame(NGHTTP2_DATA, NGHTTP2_FLAG_END_STREAM, 0));
    ASSERT_TRUE(limit.CountFrame(NGHTTP2_HEADERS, 0, 3));
  }
  int empty = 0;
  while (empty < 1'000'000 && limit.CountFrame(NGHTTP2_DATA, 0, 0)) ++empty;
  EXPECT_EQ(empty, Limits().empty_frame_burst);
}

TEST(FrameLimit, AllowsMoreFramesAfterAWhile) {
  testing::ManualClock clock;
  FrameLimit limit(Limits(), clock);
  while (limit.CountFrame(NGHTTP2_PING, 0, 8)) {}
  clock.Advance(std::chrono::milliseconds(1));
  int more = 0;
  while (limit.CountFrame(NGHTTP2_PING, 0, 8)) ++more;
  EXPECT_EQ(more, std::chrono::milliseconds(1) / Limits().empty_frame_interval);
}

TEST(FrameLimit, LimitsTheSizeOfAHeaderBlock) {
  const testing::ManualClock clock;
  FrameLimit limit(Limits(), clock);
  for (int block = 0; block < 10; ++block) {
    limit.BeginHeaders();
    EXPECT_TRUE(limit.CountHeader(Limits().header_block_bytes / 2));
  }
  EXPECT_FALSE(limit.CountHeader(Limits().header_block_bytes / 2));
}

}  // namespace
}  // namespace apimesh::http2
