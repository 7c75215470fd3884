#include "lib/http/client_span.h"

#include <gmock/gmock.h>

#include "lib/testing/manual_clock.h"
#include "lib/testing/recorded_spans.h"

namespace apimesh::http {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using testing::RecordedSpans;

struct ClientSpanTest : ::testing::Test {
  testing::ManualClock clock;
  std::shared_ptr<RecordedSpans> recorded = std::make_shared<RecordedSpans>();
  tracing::Tracer tracer{clock, tracing::Sampler{1'000'000}, recorded};
  tracing::SpanPtr parent = tracer.StartRoot({}, "parent", tracing::Kind::kServer, tracing::kHttpScope).span;
  Headers headers;
};

TEST_F(ClientSpanTest, RecordsARequestAndPassesItsContextOn) {
  {
    ClientSpan span({.span = parent, .unrecorded = {}}, "POST", "https://hook.ns.svc:8443/a?timeout=1s", headers);
    span.Finish(200);
  }
  ASSERT_EQ(recorded->spans.size(), 1U);
  const tracing::SpanData& span = recorded->spans[0];
  EXPECT_EQ(span.name, "HTTP POST");
  EXPECT_EQ(span.kind, tracing::Kind::kClient);
  EXPECT_EQ(RecordedSpans::TextOf(span, "url.full"), "https://hook.ns.svc:8443/a?timeout=1s");
  EXPECT_EQ(RecordedSpans::TextOf(span, "server.address"), "hook.ns.svc");
  EXPECT_EQ(RecordedSpans::TextOf(span, "server.port"), "8443");
  EXPECT_EQ(RecordedSpans::TextOf(span, "http.response.status_code"), "200");
  EXPECT_FALSE(span.failed);
  EXPECT_THAT(headers, ElementsAre(Pair("traceparent", tracing::TraceParentOf(span.context))));
}

TEST_F(ClientSpanTest, RecordsFailures) {
  ClientSpan({.span = parent, .unrecorded = {}}, "GET", "https://x:443/", headers).Finish(404);
  ClientSpan({.span = parent, .unrecorded = {}}, "GET", "https://x/", headers).Fail("refused");
  ASSERT_EQ(recorded->spans.size(), 2U);
  EXPECT_TRUE(recorded->spans[0].failed);
  EXPECT_EQ(RecordedSpans::TextOf(recorded->spans[0], "error.type"), "404");
  EXPECT_EQ(RecordedSpans::TextOf(recorded->spans[0], "server.port"), "");
  EXPECT_EQ(recorded->spans[1].error, "refused");
}

TEST_F(ClientSpanTest, PassesOnTheContextOfARequestThatIsNotRecorded) {
  ClientSpan({.span = nullptr, .unrecorded = "00-1-2-00 a=1"}, "GET", "https://x/", headers).Finish(200);
  EXPECT_THAT(headers, ElementsAre(Pair("traceparent", "00-1-2-00"), Pair("tracestate", "a=1")));
  EXPECT_TRUE(recorded->spans.empty());
}

TEST(SplitHostAndPort, KnowsAddresses) {
  for (const auto& [text, host, port] : {std::tuple{"a:1", "a", 1},
                                         {"a", "a", 0},
                                         {"[::1]:2", "::1", 2},
                                         {"[::1]", "::1", 0},
                                         {"::1", "::1", 0},
                                         {"", "", 0}}) {
    EXPECT_EQ(SplitHostAndPort(text), std::pair(std::string(host), port)) << text;
  }
}

}  // namespace
}  // namespace apimesh::http
