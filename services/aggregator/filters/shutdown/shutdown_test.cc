#include "services/aggregator/filters/shutdown/shutdown.h"

#include "services/aggregator/filters/testing_filter.h"
#include "services/aggregator/health/lifecycle.h"

namespace apimesh::aggregator {
namespace {

struct ShutdownTest : FilterTest {
  ShutdownTest() {
    inputs.lifecycle = std::make_shared<Lifecycle>();
    exchange.path = "/api/v1/pods";
  }
};

TEST_F(ShutdownTest, ARunningServerAnswers) {
  Run(MakeShutdown(inputs));
  EXPECT_EQ(response.code, 200);
  EXPECT_EQ(response.Header("connection"), "");
}

TEST_F(ShutdownTest, AStoppingServerSendsClientsAway) {
  inputs.lifecycle->BeginDrain();
  Run(MakeShutdown(inputs));
  EXPECT_EQ(response.code, 429);
  EXPECT_EQ(response.Header("retry-after"), "5");
  EXPECT_EQ(response.Header("connection"), "close");
  EXPECT_THAT(response.text, ::testing::HasSubstr("The apiserver is shutting down, please try again later."));
}

TEST_F(ShutdownTest, AStoppingServerStillAnswersHealthChecks) {
  inputs.lifecycle->BeginDrain();
  exchange.path = "/readyz";
  Run(MakeShutdown(inputs));
  EXPECT_EQ(response.code, 200);
}

}  // namespace
}  // namespace apimesh::aggregator
