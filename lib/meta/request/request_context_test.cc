#include "lib/meta/request/request_context.h"

#include <gtest/gtest.h>

#include "lib/testing/manual_clock.h"

namespace apimesh::meta {
namespace {

using std::chrono::seconds;

TEST(RequestContext, IsAbandonedFromItsDeadlineOn) {
  testing::ManualClock clock;
  RequestContext::State state;
  state.deadline = {clock.Steady() + seconds(5), clock};
  const RequestContext ctx(std::move(state));
  EXPECT_EQ(ctx.Deadline(), clock.Steady() + seconds(5));
  clock.Advance(std::chrono::milliseconds(4999));
  EXPECT_FALSE(ctx.Abandoned());
  clock.Advance(std::chrono::milliseconds(1));
  EXPECT_TRUE(ctx.Abandoned());
}

TEST(RequestContext, IsAbandonedWhenTheClientHasGone) {
  RequestContext::State state;
  state.gone = std::make_shared<std::atomic<bool>>(false);
  const std::shared_ptr<std::atomic<bool>> gone = state.gone;
  const RequestContext ctx(std::move(state));
  EXPECT_EQ(ctx.Deadline(), SteadyTime::max());
  EXPECT_FALSE(ctx.Abandoned());
  *gone = true;
  EXPECT_TRUE(ctx.Abandoned());
}

}  // namespace
}  // namespace apimesh::meta
