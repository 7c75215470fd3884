#include "lib/service/stores/store_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/testing/manual_clock.h"

namespace apimesh::service {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string TextOf(std::vector<storage::ResourceStats> stats) {
  const testing::ManualClock clock;
  service::Metrics metrics(clock);
  metrics.AddSource([&stats] { return DescribeStores(stats); });
  return metrics.Text();
}

TEST(StoreMetrics, ObjectsAndWhatCachesDid) {
  storage::ResourceStats pods{
      .resource = {"", "pods"}, .filled = true, .objects = 3, .bytes = 1000, .revision = 17, .events = 9, .fills = 1};
  pods.consistent_reads = 4;
  pods.indexed_lists = 2;
  const storage::ResourceStats deployments{.resource = {"apps", "deployments"}};
  const storage::ResourceStats unused{
      .resource = {"", "pods"}, .filled = true, .objects = 3, .bytes = 1000, .revision = 17, .events = 9, .fills = 1};
  const std::string text = TextOf({pods, deployments, unused});
  for (const char* line : {"apiserver_storage_objects{resource=\"pods\"} 3\n",
                           "apiserver_storage_objects{resource=\"deployments.apps\"} -1\n",
                           "apiserver_resource_objects{group=\"\",resource=\"pods\"} 3\n",
                           "apiserver_resource_objects{group=\"apps\",resource=\"deployments\"} -1\n",
                           "apiserver_resource_size_estimate_bytes{group=\"\",resource=\"pods\"} 1000\n",
                           "apiserver_storage_events_received_total{group=\"\",resource=\"pods\"} 9\n",
                           "apiserver_watch_cache_resource_version{group=\"\",resource=\"pods\"} 17\n",
                           "apiserver_cache_list_total{group=\"\",index=\"selector\",resource=\"pods\"} 2\n",
                           "apiserver_watch_cache_consistent_read_total{fallback=\"false\",group=\"\",resource="
                           "\"pods\",success=\"true\"} 4\n",
                           "# TYPE apiserver_terminated_watchers_total counter\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  const std::string once = "apiserver_storage_objects{resource=\"pods\"}";
  EXPECT_EQ(text.find(once, text.find(once) + 1), text.npos) << "a resource that is open twice";
  EXPECT_THAT(text, Not(HasSubstr("success=\"false\"")));
}

// Events are served in two groups and autoscalers in two versions, each with a separate cache.
TEST(StoreMetrics, CachesOfOneResourceAddUpWhatTheyDid) {
  storage::ResourceStats core{.resource = {"", "events"}, .events = 9, .slow_watchers = 1};
  core.lists = 2;
  core.consistent_reads = 3;
  storage::ResourceStats group{
      .resource = {"", "events"}, .filled = true, .objects = 5, .bytes = 500, .events = 9, .slow_watchers = 1};
  group.lists = 40;
  group.indexed_lists = 7;
  group.consistent_reads = 50;
  group.failed_consistent_reads = 1;
  const std::string text = TextOf({core, group});
  const std::string labels = "group=\"\",resource=\"events\"",
                    labels_read = "{fallback=\"false\"," + labels + ",success=";
  EXPECT_THAT(text, HasSubstr("apiserver_cache_list_total{group=\"\",index=\"\",resource=\"events\"} 42\n"));
  EXPECT_THAT(text, HasSubstr("apiserver_cache_list_total{group=\"\",index=\"selector\",resource=\"events\"} 7\n"));
  EXPECT_THAT(text, HasSubstr("apiserver_watch_cache_consistent_read_total" + labels_read + "\"true\"} 53\n"));
  EXPECT_THAT(text, HasSubstr("apiserver_watch_cache_consistent_read_total" + labels_read + "\"false\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("apiserver_terminated_watchers_total{" + labels + "} 2\n"));
  // The same objects and events are in both caches and are counted once.
  EXPECT_THAT(text, HasSubstr("apiserver_resource_objects{" + labels + "} 5\n"));
  EXPECT_THAT(text, HasSubstr("apiserver_storage_events_received_total{" + labels + "} 9\n"));
}

TEST(StoreMetrics, RequestsToEtcd) {
  const testing::ManualClock clock;
  service::Metrics metrics(clock);
  const auto observer = ObserveRequests(metrics)({"apps", "deployments"});
  observer->Done(storage::EtcdOperation::kCreate, std::chrono::milliseconds(30), true);
  observer->Done(storage::EtcdOperation::kCreate, std::chrono::milliseconds(3), false);
  const std::string text = metrics.Text();
  const std::string labels = "group=\"apps\",operation=\"create\",resource=\"deployments\"";
  EXPECT_THAT(text, HasSubstr("etcd_requests_total{" + labels + "} 2\n"));
  EXPECT_THAT(text, HasSubstr("etcd_request_errors_total{" + labels + "} 1\n"));
  EXPECT_THAT(text, HasSubstr("etcd_request_duration_seconds_bucket{" + labels + ",le=\"0.025\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("etcd_request_duration_seconds_count{" + labels + "} 2\n"));
}

}  // namespace
}  // namespace apimesh::service
