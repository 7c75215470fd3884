#include "services/aggregator/apiservices/availability_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/testing/manual_clock.h"

namespace apimesh::aggregator {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(AvailabilityMetrics, ShowsTheCurrentApiServices) {
  const testing::ManualClock clock;
  service::Metrics metrics(clock);
  AvailabilityMetrics availability(metrics);
  availability.Set({{"v1.apps", true}, {"v1.example.com", true}});
  EXPECT_THAT(metrics.Text(), HasSubstr("aggregator_unavailable_apiservice{name=\"v1.example.com\"} 0\n"));
  availability.Set({{"v1.example.com", false}});
  availability.Lost("v1.example.com", "FailedDiscoveryCheck");
  const std::string text = metrics.Text();
  EXPECT_THAT(text, HasSubstr("aggregator_unavailable_apiservice{name=\"v1.example.com\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("aggregator_unavailable_apiservice_total{name=\"v1.example.com\","
                              "reason=\"FailedDiscoveryCheck\"} 1\n"));
  EXPECT_THAT(text, Not(HasSubstr("v1.apps"))) << "an APIService that was deleted";
}

}  // namespace
}  // namespace apimesh::aggregator
