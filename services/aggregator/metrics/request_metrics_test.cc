#include "services/aggregator/metrics/request_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/testing/manual_clock.h"

namespace apimesh::aggregator {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Seconds = std::chrono::duration<double>;

struct Case {
  const char *name, *method, *path, *query, *content_type;
  const char *verb, *resource, *subresource, *scope, *dry_run;
};
const Case kCases[] = {
    {"Get", "GET", "/api/v1/namespaces/a/pods/b", "", "", "GET", "pods", "", "resource", ""},
    {"Head", "HEAD", "/api/v1/namespaces/a/pods", "", "", "LIST", "pods", "", "namespace", ""},
    {"ListAll", "GET", "/api/v1/pods", "", "", "LIST", "pods", "", "cluster", ""},
    {"ListByName", "GET", "/api/v1/pods", "fieldSelector=metadata.name%3Dx", "", "LIST", "pods", "", "cluster", ""},
    {"Watch", "GET", "/api/v1/namespaces/a/pods", "watch=1", "", "WATCH", "pods", "", "namespace", ""},
    {"Create", "POST", "/api/v1/namespaces/a/pods", "", "", "POST", "pods", "", "resource", ""},
    {"Update", "PUT", "/api/v1/namespaces/a/pods/b", "", "", "PUT", "pods", "", "resource", ""},
    {"Patch", "PATCH", "/api/v1/namespaces/a/pods/b", "", "application/merge-patch+json", "PATCH", "pods", "",
     "resource", ""},
    {"Apply", "PATCH", "/api/v1/namespaces/a/pods/b", "fieldManager=x", "application/apply-patch+yaml", "APPLY", "pods",
     "", "resource", ""},
    {"Delete", "DELETE", "/api/v1/namespaces/a/pods/b", "", "", "DELETE", "pods", "", "resource", ""},
    {"DeleteCollection", "DELETE", "/api/v1/namespaces/a/pods", "", "", "DELETE", "pods", "", "namespace", ""},
    {"Logs", "GET", "/api/v1/namespaces/a/pods/b/log", "", "", "CONNECT", "pods", "log", "resource", ""},
    {"DryRun", "POST", "/api/v1/namespaces/a/pods", "dryRun=All", "", "POST", "pods", "", "resource", "All"},
    {"InvalidDryRun", "POST", "/api/v1/namespaces/a/pods", "dryRun=x", "", "POST", "pods", "", "resource", "invalid"},
    {"NotServed", "GET", "/apis/example.com/v1/things/b", "", "", "GET", "", "", "", ""},
    {"Health", "GET", "/readyz", "", "", "GET", "", "/readyz", "", ""},
    {"OtherPath", "GET", "/metrics", "", "", "GET", "", "", "", ""},
    {"InventedMethod", "BREW", "/metrics", "", "", "other", "", "", "", ""},
};
class RequestLabelsOf : public ::testing::TestWithParam<Case> {};

TEST_P(RequestLabelsOf, AreThoseOfKubeApiserver) {
  const Case& one = GetParam();
  const meta::RequestInfo info = meta::ParseRequestInfo(one.method, one.path, one.query);
  const RequestLabels labels = LabelsOf(info, info.resource == "pods", one.method, one.query, one.content_type);
  EXPECT_EQ(labels.verb, one.verb);
  EXPECT_EQ(labels.resource, one.resource);
  EXPECT_EQ(labels.subresource, one.subresource);
  EXPECT_EQ(labels.scope, one.scope);
  EXPECT_EQ(labels.dry_run, one.dry_run);
}
INSTANTIATE_TEST_SUITE_P(Table, RequestLabelsOf, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

class RequestMetricsTest : public ::testing::Test {
 protected:
  const testing::ManualClock clock_;
  service::Metrics all_{clock_};
  RequestMetrics metrics_{all_};
  const RequestLabels labels_{.verb = "GET", .version = "v1", .resource = "pods", .scope = "resource"};
};

TEST_F(RequestMetricsTest, TheIndicatorDoesNotContainWaiting) {
  metrics_.Find(labels_).Record(200, Seconds(3), Seconds(2.8));
  const std::string text = all_.Text();
  EXPECT_THAT(
      text, HasSubstr("apiserver_request_duration_seconds_bucket{component=\"apiserver\",dry_run=\"\",group=\"\","
                      "resource=\"pods\",scope=\"resource\",subresource=\"\",verb=\"GET\",version=\"v1\",le=\"2\"} 0"));
  EXPECT_THAT(
      text,
      HasSubstr("apiserver_request_sli_duration_seconds_bucket{component=\"apiserver\",group=\"\","
                "resource=\"pods\",scope=\"resource\",subresource=\"\",verb=\"GET\",version=\"v1\",le=\"0.4\"} 1"));
}

TEST_F(RequestMetricsTest, LongRunningRequestsHaveNoIndicator) {
  RequestLabels watch = labels_;
  watch.verb = "WATCH";
  metrics_.Find(watch).Record(200, Seconds(3), Seconds(0));
  EXPECT_THAT(all_.Text(), HasSubstr("apiserver_request_duration_seconds_bucket"));
  EXPECT_THAT(all_.Text(), Not(HasSubstr("apiserver_request_sli_duration_seconds")));
}

TEST_F(RequestMetricsTest, DryRunsHaveNoIndicator) {
  RequestLabels dry = labels_;
  dry.dry_run = "All";
  metrics_.Find(dry).Record(200, Seconds(1), Seconds(0));
  const std::string text = all_.Text();
  EXPECT_THAT(text, HasSubstr("apiserver_request_total{code=\"200\",component=\"apiserver\",dry_run=\"All\""));
  EXPECT_THAT(text, Not(HasSubstr("apiserver_request_sli_duration_seconds")));
}

TEST_F(RequestMetricsTest, SeriesAppearWhenTheyAreUsed) {
  RequestMetrics::Series& series = metrics_.Find(labels_);
  EXPECT_EQ(&series, &metrics_.Find(labels_));
  for (const char* name :
       {"apiserver_longrunning_requests", "apiserver_request_terminations_total", "apiserver_response_sizes",
        "apiserver_requested_deprecated_apis", "apiserver_watch_list_duration_seconds"})
    EXPECT_THAT(all_.Text(), Not(HasSubstr(name)));
  series.LongRunning(1);
  series.Terminated(429);
  series.ResponseSize(5);
  series.BodySize(meta::Verb::kDeleteCollection, 60'000);
  series.BodySize(meta::Verb::kGet, 60'000);  // has no body
  series.Deprecated("1.40");
  series.WatchListDone(Seconds(0.3));
  const std::string text = all_.Text();
  for (const char* line :
       {"apiserver_request_terminations_total{code=\"429\",component=\"apiserver\",group=\"\"",
        "apiserver_request_body_size_bytes_count{group=\"\",resource=\"pods\",verb=\"delete_collection\"} 1\n",
        "apiserver_request_body_size_bytes_bucket{group=\"\",resource=\"pods\",verb=\"delete_collection\",le=\"50000\"}"
        " 0\n",
        "apiserver_requested_deprecated_apis{group=\"\",removed_release=\"1.40\",resource=\"pods\",subresource=\"\","
        "version=\"v1\"} 1\n",
        "apiserver_watch_list_duration_seconds_bucket{group=\"\",resource=\"pods\",scope=\"resource\",version=\"v1\","
        "le=\"0.4\"} 1\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST(WatchEventSizes, FindsLinesAndMessages) {
  WatchEventSizes events;
  events.Add("{\"a\":1}\n{\"b\":22}\n");
  EXPECT_THAT(events.bytes, ::testing::ElementsAre(8, 9));
  const std::string message = std::string("\0\0\0\3abc", 7);
  WatchEventSizes messages;
  messages.Add(message + message);
  messages.Add(std::string("\0\0", 2));  // incomplete
  EXPECT_THAT(messages.bytes, ::testing::ElementsAre(7, 7, 2));
}

TEST(WatchEventMetrics, CountsEachWatcher) {
  const testing::ManualClock clock;
  service::Metrics all(clock);
  RequestMetrics metrics(all);
  WatchEventSizes events;
  events.Add("{}\n{" + std::string(2000, '1') + "}\n");
  metrics.Find({.verb = "WATCH", .version = "v1", .resource = "pods"}).Events().Sent(events, 300);
  EXPECT_THAT(all.Text(), HasSubstr("apiserver_watch_events_total{group=\"\",resource=\"pods\",version=\"v1\"} 600\n"));
  EXPECT_THAT(all.Text(),
              HasSubstr("apiserver_watch_events_sizes_sum{group=\"\",resource=\"pods\",version=\"v1\"} 601800\n"));
  EXPECT_THAT(all.Text(), HasSubstr("apiserver_watch_events_sizes_bucket{group=\"\",resource=\"pods\",version=\"v1\","
                                    "le=\"1024\"} 300\n"));
}

}  // namespace
}  // namespace apimesh::aggregator
