#include "lib/otlp/exporter.h"

#include <gtest/gtest.h>

#include "lib/base/async/wakeup.h"
#include "lib/testing/system_clock.h"
#include "proto/opentelemetry/v1/trace.pb.h"

namespace apimesh::otlp {
namespace {

namespace pb = opentelemetry::proto::collector::trace::v1;
using namespace std::chrono_literals;

/// What a collector receives, and how it answers.
struct Collector {
  std::mutex mutex;
  std::vector<pb::ExportTraceServiceRequest> received;  // guarded by mutex, as all below
  std::vector<Transport::Outcome> outcomes;             // of the next messages; then they are accepted
  bool hangs = false;                                   // answers nothing before the deadline

  std::size_t Spans() {
    const std::lock_guard lock(mutex);
    std::size_t count = 0;
    for (const auto& message : received) {
      for (const auto& scope : message.resource_spans(0).scope_spans()) count += scope.spans_size();
    }
    return count;
  }
};

class FakeTransport final : public Transport {
 public:
  explicit FakeTransport(std::shared_ptr<Collector> collector) : collector_(std::move(collector)) {}

  Task<Outcome> Send(std::string message, SteadyTime deadline) override {
    bool hangs = false;
    {
      const std::lock_guard lock(collector_->mutex);
      hangs = collector_->hangs;
      if (!collector_->outcomes.empty()) {
        Outcome outcome = collector_->outcomes.front();
        collector_->outcomes.erase(collector_->outcomes.begin());
        co_return outcome;
      }
      if (!hangs) collector_->received.emplace_back().ParseFromString(message);
    }
    Outcome outcome;
    if (hangs) {
      co_await SleepUntil(deadline);
      outcome.error = "too late";
    }
    co_return outcome;
  }

 private:
  const std::shared_ptr<Collector> collector_;
};

class ExporterTest : public ::testing::Test {
 protected:
  std::unique_ptr<Exporter> Make(Duration delay, std::size_t max_queue = 2048) {
    ExporterOptions options{.clock = testing::SystemClock()};
    options.resource = {{"service.name", "apiserver"}};
    options.delay = delay;
    options.max_queue = max_queue;
    return std::make_unique<Exporter>(std::move(options), std::make_unique<FakeTransport>(collector));
  }
  static tracing::SpanData Span(std::string_view scope = "scope") {
    tracing::SpanData span;
    span.context.trace_id = tracing::NewTraceId();
    span.context.span_id = tracing::NewSpanId();
    span.name = "Get";
    span.scope = scope;
    return span;
  }

  std::shared_ptr<Collector> collector = std::make_shared<Collector>();
};

TEST_F(ExporterTest, SendsAfterTheDelay) {
  const auto exporter = Make(10ms);
  exporter->Take(Span());
  EXPECT_TRUE(testing::Eventually([&] { return collector->Spans() == 1; }));
  EXPECT_TRUE(testing::Eventually([&] { return exporter->GetCounts().exported == 1; }));
}

TEST_F(ExporterTest, SendsACompleteBatchAtOnce) {
  const auto exporter = Make(1h);
  for (int i = 0; i < 512; ++i) exporter->Take(Span());
  EXPECT_TRUE(testing::Eventually([&] { return collector->Spans() == 512; }));
}

TEST_F(ExporterTest, SendsWhatIsLeftWhenItStops) {
  const auto exporter = Make(1h);
  for (int i = 0; i < 600; ++i) exporter->Take(Span(i % 2 == 0 ? "a" : "b"));
  exporter->Stop(10s);
  EXPECT_EQ(collector->Spans(), 600u);
  EXPECT_EQ(exporter->GetCounts().exported, 600u);
  for (const auto& message : collector->received) EXPECT_EQ(message.resource_spans(0).scope_spans_size(), 2);
  exporter->Take(Span());
  EXPECT_EQ(exporter->GetCounts().dropped, 1u);
}

TEST_F(ExporterTest, DropsAndCountsWhatFindsTheQueueFull) {
  const auto exporter = Make(1h, 10);
  for (int i = 0; i < 25; ++i) exporter->Take(Span());
  EXPECT_EQ(exporter->GetCounts().dropped, 15u);
  exporter->Stop(10s);
  EXPECT_EQ(collector->Spans(), 10u);
}

TEST_F(ExporterTest, SendsAgainAfterATemporaryError) {
  collector->outcomes = {{"not now", true}};
  const auto exporter = Make(1ms);
  exporter->Take(Span());
  EXPECT_TRUE(testing::Eventually([&] { return collector->Spans() == 1; }));
  exporter->Stop(10s);
  EXPECT_EQ(exporter->GetCounts().failed, 0u);
}

TEST_F(ExporterTest, GivesUpAfterAFinalError) {
  collector->outcomes = {{"never", false}};
  const auto exporter = Make(1ms);
  exporter->Take(Span());
  EXPECT_TRUE(testing::Eventually([&] { return exporter->GetCounts().failed == 1; }));
  EXPECT_EQ(collector->Spans(), 0u);
}

TEST_F(ExporterTest, ACollectorThatHangsDelaysTheEndByTheLimitOnly) {
  collector->hangs = true;
  const auto exporter = Make(1h);
  for (int i = 0; i < 2000; ++i) exporter->Take(Span());
  const SteadyTime began = testing::SystemClock().Steady();
  exporter->Stop(100ms);
  EXPECT_LT(testing::SystemClock().Steady() - began, 20s);
  EXPECT_EQ(exporter->GetCounts().exported, 0u);
}

TEST_F(ExporterTest, AMessageHasEverythingOfASpan) {
  const auto exporter = Make(1h);
  tracing::SpanData span = Span();
  const tracing::SpanContext context = span.context;
  span.parent = tracing::NewSpanId();
  span.kind = tracing::Kind::kServer;
  span.start = WallTime(1s);
  span.end = WallTime(2s);
  span.attributes = {{"text", std::string("a")}, {"number", std::int64_t{7}}, {"flag", true}};
  span.events = {{"event", WallTime(1500ms), {{"len", std::int64_t{3}}}}};
  span.links = {context};
  span.failed = true;
  span.error = "why";
  exporter->Take(std::move(span));
  exporter->Stop(10s);
  ASSERT_EQ(collector->received.size(), 1u);
  const pb::ResourceSpans& all = collector->received[0].resource_spans(0);
  EXPECT_EQ(all.resource().attributes(0).key(), "service.name");
  EXPECT_EQ(all.resource().attributes(0).value().string_value(), "apiserver");
  const pb::Span& sent = all.scope_spans(0).spans(0);
  EXPECT_EQ(sent.trace_id(), std::string(context.trace_id.begin(), context.trace_id.end()));
  EXPECT_EQ(sent.span_id(), std::string(context.span_id.begin(), context.span_id.end()));
  EXPECT_EQ(sent.parent_span_id().size(), 8u);
  EXPECT_EQ(sent.name(), "Get");
  EXPECT_EQ(sent.kind(), pb::Span::SPAN_KIND_SERVER);
  EXPECT_EQ(sent.start_time_unix_nano(), 1'000'000'000u);
  EXPECT_EQ(sent.end_time_unix_nano(), 2'000'000'000u);
  ASSERT_EQ(sent.attributes_size(), 3);
  EXPECT_EQ(sent.attributes(1).value().int_value(), 7);
  EXPECT_TRUE(sent.attributes(2).value().bool_value());
  EXPECT_EQ(sent.events(0).time_unix_nano(), 1'500'000'000u);
  EXPECT_EQ(sent.events(0).attributes(0).key(), "len");
  EXPECT_EQ(sent.links_size(), 1);
  EXPECT_EQ(sent.status().code(), pb::Status::STATUS_CODE_ERROR);
  EXPECT_EQ(sent.status().message(), "why");
}

}  // namespace
}  // namespace apimesh::otlp
