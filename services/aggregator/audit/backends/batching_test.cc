#include "services/aggregator/audit/backends/batching.h"

#include <condition_variable>
#include <mutex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/base/async/wakeup.h"
#include "lib/testing/run.h"
#include "lib/testing/system_clock.h"
#include "services/aggregator/audit/backends/truncating.h"
#include "services/aggregator/audit/backends/webhook_backend.h"

namespace apimesh::aggregator {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Records batches. While it is blocked, Process() waits.
class Recorder final : public AuditBackend {
 public:
  Task<bool> Process(AuditEvents events) override {
    while (blocked) co_await SleepFor(1ms);
    const std::lock_guard lock(mutex_);
    std::string batch;
    for (const AuditEventPtr& event : events) batch += event->head;
    batches_.push_back(batch);
    co_return true;
  }
  std::vector<std::string> Batches() {
    const std::lock_guard lock(mutex_);
    return batches_;
  }
  std::string All() {
    std::string all;
    for (const std::string& batch : Batches()) all += batch;
    return all;
  }
  std::atomic<bool> blocked = false;

 private:
  std::mutex mutex_;
  std::vector<std::string> batches_;
};

AuditEventPtr Event(std::string head, std::string request = "", std::string annotations = "") {
  AuditEvent event;
  event.level = AuditLevel::kRequest;
  event.head = std::move(head);
  event.times = "\"t\":1";
  event.annotations = std::move(annotations);
  if (!request.empty()) event.request.emplace_back(std::move(request));
  return std::make_shared<const AuditEvent>(std::move(event));
}

class BatchingTest : public ::testing::Test {
 protected:
  BatchingTest() {
    options_.buffer_size = 100;
    options_.max_size = 3;
    options_.max_wait = 10s;
    options_.throttle = false;
    options_.throttle_qps = "0";
    options_.throttle_burst = 0;
  }
  AuditBackendPtr New(BatchOrder order = BatchOrder::kConcurrent) {
    return NewBatching(options_, order, recorder_, metrics_, testing::SystemClock());
  }
  static void Send(AuditBackend& backend, const std::string& letters) {
    for (const char c : letters)
      EXPECT_TRUE(testing::RunTask(backend.Process(AuditEvents(1, Event(std::string(1, c))))));
  }
  bool Eventually(const std::string& all) {
    return testing::Eventually([&] { return recorder_->All() == all; });
  }

  AuditBatchOptions options_;
  service::Metrics process_metrics_{testing::SystemClock()};
  std::shared_ptr<AuditMetrics> metrics_ = std::make_shared<AuditMetrics>(process_metrics_, testing::SystemClock());
  std::shared_ptr<Recorder> recorder_ = std::make_shared<Recorder>();
};

TEST_F(BatchingTest, SendsFullBatchesAtOnceAndTheRestAtShutdown) {
  const AuditBackendPtr backend = New(BatchOrder::kOneByOne);
  Send(*backend, "abcdefg");
  EXPECT_TRUE(Eventually("abcdef"));
  EXPECT_THAT(recorder_->Batches(), ElementsAre("abc", "def"));
  backend->Shutdown(testing::In(10s));
  EXPECT_THAT(recorder_->Batches(), ElementsAre("abc", "def", "g"));
}

TEST_F(BatchingTest, SendsAPartOfABatchAfterTheWait) {
  options_.max_wait = 20ms;
  const AuditBackendPtr backend = New();
  Send(*backend, "a");
  EXPECT_TRUE(Eventually("a"));
}

TEST_F(BatchingTest, BatchesOfOneDoNotWait) {
  options_.max_size = 1;
  const AuditBackendPtr backend = New(BatchOrder::kOneByOne);
  Send(*backend, "abc");
  EXPECT_TRUE(Eventually("abc"));
}

TEST_F(BatchingTest, DropsEventsThatDoNotFitAndNeverWaits) {
  options_.buffer_size = 4;
  options_.max_size = 1;
  recorder_->blocked = true;
  const AuditBackendPtr backend = New(BatchOrder::kOneByOne);
  Send(*backend, "abcdefghij");
  EXPECT_THAT(process_metrics_.Text(), HasSubstr("apiserver_audit_error_total{plugin=\"buffered\"}"));
  recorder_->blocked = false;
  backend->Shutdown(testing::In(10s));
  const std::string all = recorder_->All();
  EXPECT_GE(all.size(), 4);  // those in the buffer, and one that was being processed
  EXPECT_LE(all.size(), 6);
  Send(*backend, "z");  // after the end
  EXPECT_EQ(recorder_->All(), all);
}

TEST_F(BatchingTest, DropsEventsBeyondTheLimitOfBytes) {
  options_.buffer_size = 100'000;
  options_.max_size = 1;
  recorder_->blocked = true;
  const AuditBackendPtr backend = New(BatchOrder::kOneByOne);
  const AuditEventPtr large = Event("x", std::string(1 << 20, 'r'));  // shared, so that the test needs little memory
  constexpr std::size_t kFit = kMaxBufferedAuditBytes >> 20;
  for (std::size_t i = 0; i < 2 * kFit; ++i) EXPECT_TRUE(testing::RunTask(backend->Process(AuditEvents(1, large))));
  recorder_->blocked = false;
  backend->Shutdown(testing::In(10s));
  EXPECT_EQ(recorder_->All().size(), kFit - 1);  // each event has some more bytes than its object
}

TEST_F(BatchingTest, AfterBeginShutdownNothingWaits) {
  options_.throttle = true;
  options_.throttle_qps = "0.01";
  options_.throttle_burst = 1;
  const AuditBackendPtr backend = New();
  Send(*backend, "abcdef");
  EXPECT_TRUE(Eventually("abc"));  // the rate allows the next batch only after 100 s
  backend->BeginShutdown();
  EXPECT_TRUE(Eventually("abcdef"));
  Send(*backend, "g");
  EXPECT_TRUE(Eventually("abcdefg"));
}

TEST_F(BatchingTest, TheRateIsLimited) {
  options_.max_size = 1;
  options_.throttle = true;
  options_.throttle_qps = "50";
  options_.throttle_burst = 2;
  const AuditBackendPtr backend = New();
  const SteadyTime began = testing::SystemClock().Steady();
  Send(*backend, "abcdef");
  EXPECT_TRUE(testing::Eventually([&] { return recorder_->All().size() == 6; }));
  EXPECT_GE(testing::SystemClock().Steady() - began, 75ms);  // four batches beyond the burst
}

TEST_F(BatchingTest, ShutdownDoesNotWaitBeyondItsDeadlineAndReportsWhatIsLost) {
  recorder_->blocked = true;
  const AuditBackendPtr backend = New();
  Send(*backend, "abcd");
  backend->Shutdown(testing::In(50ms));
  EXPECT_THAT(process_metrics_.Text(), HasSubstr("apiserver_audit_error_total{plugin=\"buffered\"} 4"));
}

TEST_F(BatchingTest, LargeEventsLoseTheirObjects) {
  AuditTruncateOptions options{.enabled = true, .max_batch_bytes = 400, .max_event_bytes = 200};
  const AuditBackendPtr backend = NewTruncating(options, recorder_, metrics_);
  AuditEvents events{Event("a"), Event("b", std::string(300, 'x')), Event(std::string(300, 'c'))};
  EXPECT_TRUE(testing::RunTask(backend->Process(events)));
  EXPECT_EQ(recorder_->All(), "ab");
  EXPECT_THAT(process_metrics_.Text(), HasSubstr("apiserver_audit_error_total{plugin=\"truncate\"} 1"));
  // Batches are split by their size.
  EXPECT_TRUE(testing::RunTask(
      backend->Process({Event(std::string(100, 'd')), Event(std::string(100, 'e')), Event(std::string(100, 'f'))})));
  EXPECT_EQ(recorder_->Batches().size(), 3);
}

TEST(AuditEvent, IsALineOrAnElement) {
  const AuditEventPtr event = Event("\"level\":\"Request\"", "{\"a\":1}", "{\"k\":\"v\"}");
  std::string line;
  for (const std::string_view piece : event->Line()) line += piece;
  EXPECT_EQ(
      line,
      R"({"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Request","requestObject":{"a":1},"t":1,"annotations":{"k":"v"}})"
      "\n");
  EXPECT_EQ(event->LineBytes(), line.size());
  EXPECT_EQ(EventListOf({event, event}),
            R"({"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":[)"
            R"({"level":"Request","requestObject":{"a":1},"t":1,"annotations":{"k":"v"}},)"
            R"({"level":"Request","requestObject":{"a":1},"t":1,"annotations":{"k":"v"}}]})"
            "\n");
}

TEST(AuditEvent, TruncatedEventsHaveAnAnnotation) {
  EXPECT_EQ(Event("a", "{}")->Truncated().annotations, R"({"audit.k8s.io/truncated":"true"})");
  EXPECT_EQ(Event("a", "{}", R"({"k":"v"})")->Truncated().annotations, R"({"k":"v","audit.k8s.io/truncated":"true"})");
  EXPECT_TRUE(Event("a", "{}")->Truncated().request.empty());
}

}  // namespace
}  // namespace apimesh::aggregator
