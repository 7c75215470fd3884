#include "lib/service/work_queue_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/testing/manual_clock.h"

namespace apimesh::service {
namespace {

using ::testing::HasSubstr;

TEST(WorkQueueMetrics, MeasuresWaitingAndWork) {
  testing::ManualClock clock;
  Metrics metrics(clock);
  WorkQueueMetrics queue("q", metrics, clock);
  queue.Add("a");
  queue.Add("a");  // waits already
  queue.Add("b");
  EXPECT_THAT(metrics.Text(), HasSubstr("workqueue_depth{name=\"q\"} 2\n"));
  clock.Advance(std::chrono::milliseconds(50));
  queue.Begin("a");
  clock.Advance(std::chrono::seconds(3));
  std::string text = metrics.Text();
  for (const char* line : {"workqueue_adds_total{name=\"q\"} 2\n", "workqueue_depth{name=\"q\"} 1\n",
                           "workqueue_queue_duration_seconds_bucket{name=\"q\",le=\"0.01\"} 0\n",
                           "workqueue_queue_duration_seconds_bucket{name=\"q\",le=\"0.1\"} 1\n",
                           "workqueue_unfinished_work_seconds{name=\"q\"} 3\n",
                           "workqueue_longest_running_processor_seconds{name=\"q\"} 3\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  queue.Finish("a", true);
  text = metrics.Text();
  for (const char* line : {"workqueue_retries_total{name=\"q\"} 1\n", "workqueue_adds_total{name=\"q\"} 3\n",
                           "workqueue_depth{name=\"q\"} 2\n", "workqueue_unfinished_work_seconds{name=\"q\"} 0\n",
                           "workqueue_work_duration_seconds_bucket{name=\"q\",le=\"1\"} 0\n",
                           "workqueue_work_duration_seconds_bucket{name=\"q\",le=\"10\"} 1\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

}  // namespace
}  // namespace apimesh::service
