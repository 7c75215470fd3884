#include "services/aggregator/metrics/joined_metrics.h"

#include <gtest/gtest.h>

namespace apimesh::aggregator {
namespace {

/// Without the metrics about metrics.
std::string Joined(const std::vector<ProcessMetrics>& processes, const MetricRules& rules = {}) {
  const std::string text = JoinMetrics(processes, rules);
  return text.substr(0, text.find("# HELP disabled_metrics_total"));
}

TEST(JoinMetrics, EachFamilyAndSeriesOnce) {
  const std::string own =
      "# HELP process_open_fds Files.\n# TYPE process_open_fds gauge\nprocess_open_fds 3\n"
      "# HELP objects Objects.\n# TYPE objects gauge\nobjects{resource=\"apiservices\"} 2\n";
  const std::string core =
      "# HELP process_open_fds Files.\n# TYPE process_open_fds gauge\nprocess_open_fds 7\n"
      "# HELP objects Objects.\n# TYPE objects gauge\nobjects{resource=\"pods\"} 5\nobjects{resource=\"namespaces\"} "
      "4\n"
      "# HELP wait_seconds Time.\n# TYPE wait_seconds histogram\nwait_seconds_bucket{le=\"+Inf\"} 1\nwait_seconds_sum "
      "2\n";
  const std::string extensions =
      "# HELP objects Objects, in other words.\n# TYPE objects gauge\nobjects{resource=\"namespaces\"} 3\n"
      "# TYPE process_info gauge\nprocess_info{version=\"a b\"} 1\n";
  EXPECT_EQ(Joined({{"aggregator", own}, {"core-api", core}, {"extensions-api", extensions}}),
            "# HELP process_open_fds Files.\n# TYPE process_open_fds gauge\nprocess_open_fds "
            "3\nprocess_open_fds{process=\"core-api\"} 7\n"
            "# HELP objects Objects.\n# TYPE objects gauge\nobjects{resource=\"apiservices\"} "
            "2\nobjects{resource=\"pods\"} 5\n"
            "objects{resource=\"namespaces\"} 4\n"
            "# HELP wait_seconds Time.\n# TYPE wait_seconds histogram\nwait_seconds_bucket{le=\"+Inf\"} "
            "1\nwait_seconds_sum 2\n"
            "# TYPE process_info gauge\nprocess_info{process=\"extensions-api\",version=\"a b\"} 1\n");
}

TEST(JoinMetrics, CountersAndHistogramsOfSeveralProcessesAddUp) {
  const std::string own =
      "# TYPE steps histogram\nsteps_bucket{le=\"1\"} 1\nsteps_sum 0.25\nsteps_count 1\n"
      "# TYPE calls counter\ncalls{a=\"b\"} 2\n# TYPE size gauge\nsize 3\n";
  const std::string core =
      "# TYPE steps histogram\nsteps_bucket{le=\"1\"} 40\nsteps_sum 0.5\nsteps_count 1000000\n"
      "# TYPE calls counter\ncalls{a=\"b\"} 5\ncalls{a=\"c\"} 7\n# TYPE size gauge\nsize 4\n";
  EXPECT_EQ(Joined({{"aggregator", own}, {"core-api", core}}),
            "# TYPE steps histogram\nsteps_bucket{le=\"1\"} 41\nsteps_sum 0.75\nsteps_count 1000001\n"
            "# TYPE calls counter\ncalls{a=\"b\"} 7\ncalls{a=\"c\"} 7\n# TYPE size gauge\nsize 3\n");
}

TEST(JoinMetrics, RulesApplyBeforeSeriesAreAdded) {
  MetricsOptions options;
  options.disabled = {"size"};
  options.allow_labels = {"calls,a=b"};
  const std::string own =
      "# HELP size Size.\n# TYPE size gauge\nsize 3\n# TYPE calls counter\ncalls{a=\"b\"} 2\ncalls{a=\"c\"} 3\n";
  const std::string core = "# TYPE size gauge\nsize 4\n# TYPE calls counter\ncalls{a=\"d\"} 4\n";
  EXPECT_EQ(Joined({{"aggregator", own}, {"core-api", core}}, MetricRules(options)),
            "# TYPE calls counter\ncalls{a=\"b\"} 2\ncalls{a=\"unexpected\"} 7\n");
}

TEST(JoinMetrics, CountsMetricsByStability) {
  MetricsOptions options;
  options.disabled = {"size"};
  const std::string text = JoinMetrics({{"aggregator",
                                         "# TYPE apiserver_request_total counter\n# TYPE size gauge\n"
                                         "# TYPE workqueue_depth gauge\n# TYPE other gauge\n"}},
                                       MetricRules(options));
  for (const char* line :
       {"disabled_metrics_total 1\n", "registered_metrics_total{deprecated_version=\"\",stability_level=\"ALPHA\"} 1\n",
        "registered_metrics_total{deprecated_version=\"\",stability_level=\"BETA\"} 1\n",
        "registered_metrics_total{deprecated_version=\"\",stability_level=\"STABLE\"} 1\n"}) {
    EXPECT_NE(text.find(line), text.npos) << line;
  }
}

TEST(JoinMetrics, WhatIsNoMetricIsLeftOut) { EXPECT_EQ(Joined({{"a", "stray 1\n# note\n"}, {"b", ""}}), ""); }

}  // namespace
}  // namespace apimesh::aggregator
