#include <gtest/gtest.h>

#include "services/core-api/groups/core/pod/eviction/eviction.h"
#include "services/core-api/groups/testing.h"

namespace apimesh::core_api {
namespace {

TEST(TakeDisruption, CountsDown) {
  const meta::Object budget = testing::Parse(
      R"({"metadata":{"name":"b","generation":2},"status":{"observedGeneration":2,"disruptionsAllowed":1,"currentHealthy":3,"desiredHealthy":2}})");
  const meta::Result<meta::Object> charged = TakeDisruption(budget, "p", WallTime());
  ASSERT_TRUE(charged);
  EXPECT_EQ(testing::JsonAt(*charged, "status", "disruptionsAllowed"), "0");
  EXPECT_EQ(testing::JsonAt(*charged, "status", "disruptedPods"), R"({"p":"1970-01-01T00:00:00Z"})");
  EXPECT_NE(testing::JsonAt(*charged, "status", "conditions").find("InsufficientPods"), std::string::npos);
}

TEST(TakeDisruption, Refuses) {
  struct Case {
    const char* status;
    int code;
    const char* why;
  };
  const Case cases[] = {
      {R"({"observedGeneration":1,"disruptionsAllowed":5})", 429,
       "The disruption budget b is still being processed by the server."},
      {R"({"observedGeneration":2,"currentHealthy":1,"desiredHealthy":2})", 429,
       "The disruption budget b needs 2 healthy pods and has 1 currently"},
      {R"({"observedGeneration":2,"currentHealthy":3,"desiredHealthy":2})", 429,
       "The disruption budget b does not allow evicting pods currently"},
      {R"({"observedGeneration":2,"conditions":[{"type":"DisruptionAllowed","status":"False","reason":"SyncFailed","message":"m"}]})",
       429, "The disruption budget b does not allow evicting pods currently because it failed sync: m"},
      {R"({"observedGeneration":2,"disruptionsAllowed":-1})", 403, nullptr},
  };
  for (const Case& c : cases) {
    const meta::Object budget =
        testing::Parse(std::string(R"({"metadata":{"name":"b","generation":2},"status":)") + c.status + "}");
    const meta::Result<meta::Object> refused = TakeDisruption(budget, "p", WallTime());
    ASSERT_FALSE(refused) << c.status;
    EXPECT_EQ(refused.error().Code(), c.code) << c.status;
    if (c.why) {
      EXPECT_EQ(refused.error().Get().causes.at(0).message, c.why);
    }
  }
}

}  // namespace
}  // namespace apimesh::core_api
