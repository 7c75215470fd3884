#include "services/launcher/inspect/failing_webhooks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace apimesh::launcher {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kMetrics =
    "# TYPE apimesh_admission_webhook_failing_seconds gauge\n"
    "apimesh_admission_webhook_failing_seconds{configuration=\"c\",failure_policy=\"Fail\",name=\"a.test\","
    "type=\"validating\"} 60.5\n"
    "apimesh_admission_webhook_failing_seconds{configuration=\"c\",failure_policy=\"Ignore\",name=\"b.test\","
    "type=\"admit\"} 31\n"
    "apimesh_admission_webhook_failing_seconds{configuration=\"c\",failure_policy=\"Fail\",name=\"a.test\","
    "type=\"validating\"} 90\n"
    "other{name=\"x\"} 1\n";

TEST(FailingWebhooks, AreReadOnceFromTheMetricsOfAllProcesses) {
  const std::vector<FailingWebhook> found = ReadFailingWebhooks(kMetrics);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].name, "a.test");
  EXPECT_EQ(found[0].seconds, 90);
  EXPECT_TRUE(found[0].rejects);
  EXPECT_FALSE(found[0].mutating);
  EXPECT_EQ(found[1].name, "b.test");
  EXPECT_EQ(found[1].configuration, "c");
  EXPECT_TRUE(found[1].mutating);
}

TEST(FailingWebhooks, WithFailurePolicyFailNameTheWayOut) {
  const std::vector<FailingWebhook> found = ReadFailingWebhooks(kMetrics);
  EXPECT_THAT(found[0].Describe(), HasSubstr("annotate validatingwebhookconfiguration c apimesh.io/ignore-webhook"));
  EXPECT_THAT(found[1].Describe(), Not(HasSubstr("annotate")));
}

TEST(FailingWebhooks, OfOddMetricsAreNone) {
  EXPECT_TRUE(ReadFailingWebhooks("").empty());
  EXPECT_TRUE(ReadFailingWebhooks("apimesh_admission_webhook_failing_seconds{").empty());
}

}  // namespace
}  // namespace apimesh::launcher
