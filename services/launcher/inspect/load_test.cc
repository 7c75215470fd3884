#include "services/launcher/inspect/load.h"

#include <gtest/gtest.h>

namespace apimesh::launcher {
namespace {

constexpr std::string_view kBefore =
    "apiserver_request_total{code=\"200\",group=\"\",resource=\"pods\",verb=\"GET\"} 10\n"
    "apiserver_request_total{code=\"503\",group=\"apps\",resource=\"deployments\",verb=\"LIST\"} 1\n"
    "apiserver_request_duration_seconds_bucket{group=\"\",resource=\"pods\",verb=\"GET\",le=\"0.1\"} 10\n"
    "apiserver_request_duration_seconds_bucket{group=\"\",resource=\"pods\",verb=\"GET\",le=\"0.2\"} 10\n"
    "apiserver_request_duration_seconds_bucket{group=\"\",resource=\"pods\",verb=\"GET\",le=\"+Inf\"} 10\n";
constexpr std::string_view kAfter =
    "apiserver_request_total{code=\"200\",group=\"\",resource=\"pods\",verb=\"GET\"} 30\n"
    "apiserver_request_total{code=\"200\",group=\"\",resource=\"pods\",verb=\"WATCH\"} 99\n"
    "apiserver_request_total{code=\"200\",group=\"\",resource=\"\",verb=\"GET\"} 2\n"
    "apiserver_request_total{code=\"503\",group=\"apps\",resource=\"deployments\",verb=\"LIST\"} 5\n"
    "apiserver_request_duration_seconds_bucket{group=\"\",resource=\"pods\",verb=\"GET\",le=\"0.1\"} 20\n"
    "apiserver_request_duration_seconds_bucket{group=\"\",resource=\"pods\",verb=\"GET\",le=\"0.2\"} 30\n"
    "apiserver_request_duration_seconds_bucket{group=\"\",resource=\"pods\",verb=\"GET\",le=\"+Inf\"} 30\n"
    "apiserver_longrunning_requests{group=\"batch\",resource=\"jobs\",verb=\"WATCH\"} 3\n"
    "apiserver_longrunning_requests{group=\"\",resource=\"pods\",verb=\"CONNECT\"} 7\n";

Load At(std::string_view metrics, int seconds) {
  Load load;
  load.time = SteadyTime(std::chrono::seconds(seconds));
  load.groups = ReadGroups(metrics);
  return load;
}

TEST(Load, RatesOfGroupsAreDifferencesPerSecond) {
  const LoadRates rates = Rates(At(kBefore, 0), At(kAfter, 2));
  ASSERT_EQ(rates.groups.size(), 4u);
  EXPECT_EQ(rates.groups[0].name, "core");
  EXPECT_EQ(rates.groups[0].requests, 10);
  EXPECT_EQ(rates.groups[0].errors, 0);
  EXPECT_EQ(rates.groups[0].watches, 0);
  EXPECT_DOUBLE_EQ(rates.groups[0].p50, 0.1);  // 10 of 20 requests took at most 0.1 s
  EXPECT_DOUBLE_EQ(rates.groups[0].p99, 0.198);
  EXPECT_EQ(rates.groups[1].name, "apps");
  EXPECT_EQ(rates.groups[1].errors, 2);
  EXPECT_EQ(rates.groups[2].name, "(paths)");
  EXPECT_EQ(rates.groups[3].name, "batch");
  EXPECT_EQ(rates.groups[3].watches, 3);
}

TEST(Load, CountersThatBeganAgainAreNotNegative) {
  const LoadRates rates = Rates(At(kAfter, 0), At(kBefore, 1));
  ASSERT_EQ(rates.groups.size(), 2u);
  EXPECT_EQ(rates.groups[0].requests, 10);
  EXPECT_EQ(rates.groups[1].requests, 1);
}

TEST(Load, ProcessesAreComparedByTheirId) {
  Load before = At("", 0), after = At("", 2);
  before.processes = {{"core-api", 7, 1.0, 1024}, {"aggregator", 8, 5.0, 1024}};
  after.processes = {{"core-api", 7, 2.0, 2048}, {"aggregator", 9, 0.5, 1024}};
  const LoadRates rates = Rates(before, after);
  ASSERT_EQ(rates.processes.size(), 2u);
  EXPECT_DOUBLE_EQ(rates.processes[0].cpu_percent, 50);
  EXPECT_EQ(rates.processes[0].memory_kilobytes, 2048);
  EXPECT_DOUBLE_EQ(rates.processes[1].cpu_percent, 25);  // a new process
}

}  // namespace
}  // namespace apimesh::launcher
