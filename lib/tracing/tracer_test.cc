#include "lib/tracing/tracer.h"

#include <gtest/gtest.h>

#include "lib/testing/manual_clock.h"
#include "lib/tracing/step.h"

namespace apimesh::tracing {
namespace {

class Kept final : public Sink {
 public:
  void Take(SpanData span) override { spans.push_back(std::move(span)); }
  std::vector<SpanData> spans;
};

class TracerTest : public ::testing::Test {
 protected:
  Tracer WithRate(std::int64_t per_million) { return Tracer(clock, Sampler{per_million}, kept); }

  testing::ManualClock clock;
  std::shared_ptr<Kept> kept = std::make_shared<Kept>();
};

SpanContext ParentThatIs(bool sampled) {
  SpanContext parent;
  parent.trace_id = NewTraceId();
  parent.span_id = NewSpanId();
  parent.sampled = sampled;
  parent.state = "a=1";
  return parent;
}

TEST_F(TracerTest, TheDecisionOfTheParentIsFollowed) {
  for (const std::int64_t rate : {0, 1'000'000}) {
    for (const bool sampled : {false, true}) {
      const Tracer tracer = WithRate(rate);
      const SpanContext parent = ParentThatIs(sampled);
      const Tracer::Root root = tracer.StartRoot(parent, "GET", Kind::kServer, kHttpScope);
      EXPECT_EQ(root.span != nullptr, sampled);
      EXPECT_EQ(root.context.sampled, sampled);
      EXPECT_EQ(root.context.trace_id, parent.trace_id);
      EXPECT_NE(root.context.span_id, parent.span_id);
      EXPECT_EQ(root.context.state, "a=1");
      EXPECT_EQ(tracer.Remote(parent) != nullptr, sampled);
    }
  }
}

TEST_F(TracerTest, ATraceThatBeginsHereIsSampledByTheRate) {
  EXPECT_FALSE(WithRate(0).StartRoot({}, "GET", Kind::kServer, kHttpScope).span);
  EXPECT_TRUE(WithRate(1'000'000).StartRoot({}, "GET", Kind::kServer, kHttpScope).span);
}

// The bound of TraceIdRatioBased: the last 8 bytes of the id, without the lowest bit, against rate * 2^63.
TEST(Sampler, DecidesByTheTraceId) {
  TraceId id{};
  id[8] = 0x7f;
  EXPECT_TRUE(Sampler{500'000}.Samples(id));
  id[8] = 0x80;
  EXPECT_FALSE(Sampler{500'000}.Samples(id));
  EXPECT_FALSE(Sampler{0}.Samples(TraceId{}));
  EXPECT_TRUE(Sampler{1}.Samples(TraceId{}));
}

TEST_F(TracerTest, ChildrenHaveTheirParentAndSpansEndOnce) {
  const Tracer tracer = WithRate(1'000'000);
  const SpanContext remote = ParentThatIs(true);
  {
    const SpanPtr root = tracer.StartRoot(remote, "GET", Kind::kServer, kHttpScope).span;
    const SpanPtr child = Start(root, "Get");
    child->Set("a", std::string("1"));
    child->Set("a", std::string("2"));
    clock.Advance(std::chrono::milliseconds(5));
    child->AddEvent("half", {{"n", std::int64_t{7}}});
    clock.Advance(std::chrono::milliseconds(5));
    child->End();
    child->End();
    child->Set("late", true);
    root->Fail("why");
  }
  ASSERT_EQ(kept->spans.size(), 2u);
  const SpanData &child = kept->spans[0], &root = kept->spans[1];
  EXPECT_EQ(child.parent, root.context.span_id);
  EXPECT_EQ(root.parent, remote.span_id);
  EXPECT_EQ(child.context.trace_id, remote.trace_id);
  EXPECT_EQ(child.end - child.start, std::chrono::milliseconds(10));
  ASSERT_EQ(child.attributes.size(), 1u);
  EXPECT_EQ(std::get<std::string>(child.attributes[0].second), "2");
  ASSERT_EQ(child.events.size(), 1u);
  EXPECT_EQ(child.events[0].time - child.start, std::chrono::milliseconds(5));
  EXPECT_TRUE(root.failed);
  EXPECT_FALSE(child.failed);
}

TEST_F(TracerTest, ARemoteParentIsNotSentButItsChildrenAre) {
  const Tracer tracer = WithRate(0);
  const SpanContext parent = ParentThatIs(true);
  {
    const SpanPtr remote = tracer.Remote(parent);
    remote->Set("a", true);
    const SpanPtr child = Start(remote, "Get");
  }
  ASSERT_EQ(kept->spans.size(), 1u);
  EXPECT_EQ(kept->spans[0].parent, parent.span_id);
}

TEST_F(TracerTest, EventsAndAttributesAreBounded) {
  const Tracer tracer = WithRate(1'000'000);
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for (int i = 0; i < 200; ++i) names.push_back(std::to_string(i));
    return names;
  }();
  {
    const SpanPtr span = tracer.StartRoot({}, "GET", Kind::kServer, kHttpScope).span;
    for (const std::string& name : kNames) {
      span->AddEvent(name);
      span->Set(name, true);
    }
  }
  ASSERT_EQ(kept->spans.size(), 1u);
  EXPECT_EQ(kept->spans[0].events.size(), 128u);
  EXPECT_EQ(kept->spans[0].attributes.size(), 128u);
}

TEST_F(TracerTest, NothingHappensWithoutASpan) {
  const SpanPtr none;
  EXPECT_FALSE(Start(none, "Get"));
  Event(none, "event");
  End(none);
  std::vector<std::pair<std::string, std::string>> headers;
  Carrier carrier;
  carrier.AddTo(headers);
  EXPECT_TRUE(headers.empty());
  const Step step(none, "Get");
  step.Event("event");
  EXPECT_FALSE(step);
  carrier.unrecorded = "parent state";
  carrier.AddTo(headers);
  EXPECT_EQ(headers,
            (std::vector<std::pair<std::string, std::string>>{{"traceparent", "parent"}, {"tracestate", "state"}}));
}

TEST_F(TracerTest, ACallCarriesItsOwnSpan) {
  const Tracer tracer = WithRate(1'000'000);
  const SpanPtr span = tracer.StartRoot(ParentThatIs(true), "GET", Kind::kServer, kHttpScope).span;
  const Carrier carrier{.span = span, .unrecorded = "ignored"};
  std::vector<std::pair<std::string, std::string>> headers;
  carrier.AddTo(headers);
  ASSERT_EQ(headers.size(), 2u);
  EXPECT_EQ(headers[0].second, TraceParentOf(span->Context()));
  EXPECT_EQ(headers[1].second, "a=1");
  const SpanPtr remote = tracer.Remote(ParseContext(headers[0].second, headers[1].second));
  EXPECT_EQ(TextOf(remote->Context()), carrier.Text());
}

TEST_F(TracerTest, AStepEndsWithItsScope) {
  const Tracer tracer = WithRate(1'000'000);
  const SpanPtr span = tracer.StartRoot({}, "GET", Kind::kServer, kHttpScope).span;
  {
    const Step step(span, "Get");
    step.Event("event");
    EXPECT_TRUE(kept->spans.empty());
  }
  ASSERT_EQ(kept->spans.size(), 1u);
  EXPECT_EQ(kept->spans[0].name, "Get");
  EXPECT_EQ(kept->spans[0].parent, span->Context().span_id);
  EXPECT_EQ(kept->spans[0].events.size(), 1u);
}

TEST_F(TracerTest, ASpanMayHaveStartedEarlier) {
  const Tracer tracer = WithRate(1'000'000);
  const WallTime earlier = clock.Now();
  clock.Advance(std::chrono::seconds(1));
  const SpanPtr span = tracer.StartRoot({}, "GET", Kind::kServer, kHttpScope).span;
  span->StartedAt(earlier);
  span->End();
  EXPECT_EQ(kept->spans.at(0).start, earlier);
}

TEST_F(TracerTest, TracingIsOffUntilATracerIsInstalled) {
  const std::string parent = TraceParentOf(ParentThatIs(true));
  EXPECT_FALSE(Remote(parent));
  Install(std::make_shared<Tracer>(clock, Sampler{0}, kept));
  EXPECT_TRUE(Remote(parent));
  EXPECT_FALSE(Remote("bad"));
  Uninstall();
  EXPECT_FALSE(Remote(parent));
}

}  // namespace
}  // namespace apimesh::tracing
