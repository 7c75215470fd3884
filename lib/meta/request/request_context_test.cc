#include "lib/meta/request/request_context.h"

#include <gtest/gtest.h>

#include "lib/meta/request/carrier.h"
#include "lib/testing/manual_clock.h"
#include "lib/testing/recorded_spans.h"

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

TEST(RequestContext, StepsShareTheStateAndHaveTheirOwnSpan) {
  testing::ManualClock clock;
  const tracing::Tracer tracer(clock, tracing::Sampler{1'000'000}, std::make_shared<testing::RecordedSpans>());
  const tracing::SpanPtr span = tracer.StartRoot({}, "GET", tracing::Kind::kServer, tracing::kHttpScope).span;
  RequestContext::State state;
  state.traceparent = "00-1-2-00 a=1";
  const RequestContext ctx(std::move(state));
  EXPECT_FALSE(ctx.Span());
  EXPECT_EQ(CarrierOf(ctx).Text(), "00-1-2-00 a=1");
  const RequestContext step = ctx.Within(span);
  const RequestContext copy = step;
  EXPECT_EQ(copy.Span(), span);
  EXPECT_EQ(CarrierOf(copy).Text(), tracing::TextOf(span->Context()));
  EXPECT_FALSE(step.Within(nullptr).Span());
  EXPECT_FALSE(ctx.Span());
  step.Warn("careful");
  EXPECT_EQ(ctx.Warnings().size(), 1U);
}

TEST(RequestContext, AStepKeepsTheStateAlive) {
  testing::ManualClock clock;
  const tracing::Tracer tracer(clock, tracing::Sampler{1'000'000}, std::make_shared<testing::RecordedSpans>());
  std::weak_ptr<tracing::Span> weak;
  std::shared_ptr<std::atomic<bool>> gone = std::make_shared<std::atomic<bool>>(true);
  {
    RequestContext::State state;
    state.gone = gone;
    const tracing::SpanPtr span = tracer.StartRoot({}, "GET", tracing::Kind::kServer, tracing::kHttpScope).span;
    weak = span;
    const RequestContext step = RequestContext(std::move(state)).Within(span);
    EXPECT_TRUE(step.Abandoned());
  }
  EXPECT_TRUE(weak.expired());
  EXPECT_EQ(gone.use_count(), 1);
}

}  // namespace
}  // namespace apimesh::meta
