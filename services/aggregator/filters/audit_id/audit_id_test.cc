#include "services/aggregator/filters/audit_id/audit_id.h"

#include "services/aggregator/filters/testing_filter.h"

namespace apimesh::aggregator {
namespace {

struct AuditIdTest : FilterTest {
  std::string IdFor(std::string given) {
    exchange.request.headers = {{"audit-id", std::move(given)}};
    Run(MakeAuditId(inputs));
    EXPECT_EQ(response.Header("audit-id"), exchange.audit_id);
    return exchange.audit_id;
  }
};

TEST_F(AuditIdTest, IsGeneratedAndSentToTheClient) {
  Run(MakeAuditId(inputs));
  const std::string first = exchange.audit_id;
  EXPECT_EQ(first.size(), 36u);
  EXPECT_EQ(response.Header("audit-id"), first);
}

TEST_F(AuditIdTest, IsTheIdOfTheClientIfItSendsOne) { EXPECT_EQ(IdFor("my-id"), "my-id"); }

TEST_F(AuditIdTest, IsCutAfter64Characters) { EXPECT_EQ(IdFor(std::string(100, 'x')), std::string(64, 'x')); }

}  // namespace
}  // namespace apimesh::aggregator
