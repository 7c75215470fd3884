#include "services/aggregator/filters/tracing/tracing.h"

#include "lib/testing/recorded_spans.h"
#include "services/aggregator/filters/testing_filter.h"

namespace apimesh::aggregator {
namespace {

using ::testing::IsEmpty;
using testing::RecordedSpans;
using ::testing::SizeIs;

constexpr const char* kParent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

struct TracingTest : FilterTest {
  TracingTest() {
    exchange.user = service::MakeUser({.name = "jane", .uid = "", .groups = {"dev"}, .extra = {}});
    exchange.path = "/api/v1/namespaces/default/pods/a";
    exchange.request.target = exchange.path;
    exchange.info = meta::ParseRequestInfo("GET", exchange.path, "");
  }
  ~TracingTest() override { tracing::Uninstall(); }
  void Trace(std::int64_t per_million) {
    tracing::Install(std::make_shared<tracing::Tracer>(clock, tracing::Sampler{per_million}, recorded));
  }
  void Send(std::string traceparent = "") {
    if (!traceparent.empty()) exchange.request.headers.emplace_back("traceparent", std::move(traceparent));
    const Filters chain = {MakeFirstSpan("authentication"), MakeTracing(inputs), MakeFilterSpan("audit"),
                           std::make_shared<LastFilter>([this](Exchange& reached) -> Task<> {
                             seen = reached.trace;
                             co_await reached.reply.SendText(500, "text/plain", "oh");
                           })};
    testing::RunTask(RunFilters(chain, exchange));
  }
  const tracing::SpanData* Find(std::string_view name) const {
    for (const tracing::SpanData& span : recorded->spans) {
      if (span.name == name) return &span;
    }
    return nullptr;
  }

  std::shared_ptr<RecordedSpans> recorded = std::make_shared<RecordedSpans>();
  tracing::Carrier seen;  // by the last filter
};

constexpr const char* kName = "GET /api/v1/namespaces/{:namespace}/pods/{:name}";

TEST_F(TracingTest, NothingIsInTheChainIfTracingIsOff) {
  EXPECT_FALSE(MakeTracing(inputs));
  EXPECT_FALSE(MakeFilterSpan("audit"));
  EXPECT_FALSE(MakeFirstSpan("authentication"));
}

TEST_F(TracingTest, TheRequestOfAnyUserBeginsATrace) {
  Trace(1'000'000);
  Send(kParent);
  ASSERT_THAT(recorded->spans, SizeIs(3));
  const tracing::SpanData& request = *Find(kName);
  EXPECT_EQ(request.parent, tracing::SpanId{});
  ASSERT_THAT(request.links, SizeIs(1));
  EXPECT_EQ(tracing::TraceParentOf(request.links[0]), kParent);
  EXPECT_EQ(RecordedSpans::TextOf(request, "http.response.status_code"), "500");
  EXPECT_EQ(RecordedSpans::TextOf(request, "http.response.body.size"), "2");
  EXPECT_EQ(RecordedSpans::TextOf(request, "audit-id"), "id-1");
  EXPECT_TRUE(request.failed);
  EXPECT_EQ(Find("audit")->parent, request.context.span_id);
  EXPECT_NE(Find("authentication")->context.trace_id, request.context.trace_id);
  EXPECT_EQ(seen.span->Context().span_id, Find("audit")->context.span_id);
  EXPECT_FALSE(exchange.trace.span) << "the filters restore what they found";
}

TEST_F(TracingTest, APrivilegedUserContinuesTheTraceOfTheHeader) {
  for (const char* group : {"system:masters", "system:monitoring"}) {
    recorded->spans.clear();
    Trace(0);
    exchange.user = service::MakeUser({.name = "a", .uid = "", .groups = {group}, .extra = {}});
    exchange.request.headers.clear();
    Send(kParent);
    ASSERT_THAT(recorded->spans, SizeIs(2)) << group;  // not "authentication", which is in no trace of a client
    EXPECT_THAT(Find(kName)->links, IsEmpty());
    EXPECT_EQ(tracing::TraceParentOf({Find(kName)->context.trace_id, Find(kName)->parent, true, ""}), kParent);
  }
}

TEST_F(TracingTest, WithoutAHeaderAPrivilegedUserContinuesTheTraceOfAuthentication) {
  Trace(1'000'000);
  exchange.user = service::MakeUser({.name = "a", .uid = "", .groups = {"system:masters"}, .extra = {}});
  Send();
  EXPECT_EQ(Find(kName)->parent, Find("authentication")->context.span_id);
}

TEST_F(TracingTest, ARequestThatIsNotSampledPassesItsContextOn) {
  Trace(0);
  Send(kParent);
  EXPECT_THAT(recorded->spans, IsEmpty());
  EXPECT_FALSE(seen.span);
  const tracing::SpanContext passed = tracing::ParseContext(seen.unrecorded, "");
  EXPECT_TRUE(passed.Valid());
  EXPECT_FALSE(passed.sampled);
}

TEST_F(TracingTest, OtherPathsHaveTheMethodAsName) {
  Trace(1'000'000);
  exchange.info = meta::ParseRequestInfo("GET", "/version", "");
  Send();
  EXPECT_TRUE(Find("GET"));
}

}  // namespace
}  // namespace apimesh::aggregator
