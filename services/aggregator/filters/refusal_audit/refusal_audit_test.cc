#include "services/aggregator/filters/refusal_audit/refusal_audit.h"

#include <stdexcept>

#include "services/aggregator/audit/auditor.h"
#include "services/aggregator/filters/testing_filter.h"

namespace apimesh::aggregator {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Keeps the heads of the events.
class Recorded final : public AuditBackend {
 public:
  Task<bool> Process(AuditEvents events) override {
    for (const AuditEventPtr& event : events) heads.push_back(event->head);
    co_return true;
  }
  std::vector<std::string> heads;
};

struct RefusalAuditTest : FilterTest {
  RefusalAuditTest() { Audit("Metadata"); }
  void Audit(const std::string& level) {
    AuditPolicy policy =
        AuditPolicy::FromText("apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: " + level + "}]");
    inputs.auditor = std::make_shared<Auditor>(std::move(policy), events, false,
                                               std::make_shared<AuditMetrics>(metrics, clock), clock);
  }
  const std::shared_ptr<Recorded> events = std::make_shared<Recorded>();
};

TEST_F(RefusalAuditTest, WithoutAuditThereIsNoFilter) {
  inputs.auditor = nullptr;
  EXPECT_FALSE(MakeRefusalAudit(inputs));
}

TEST_F(RefusalAuditTest, ARefusedRequestHasOneEventBeforeTheResponse) {
  Run(MakeRefusalAudit(inputs), [this](Exchange& reached) -> Task<> {
    co_await reached.reply.SendError(meta::Unauthorized("no"));
    EXPECT_EQ(events->heads.size(), 1u);
  });
  EXPECT_EQ(response.code, 401);
  EXPECT_THAT(events->heads, ElementsAre(AllOf(HasSubstr(R"("stage":"ResponseStarted")"), HasSubstr(R"("code":401)"),
                                               HasSubstr(R"("user":{})"))));
}

TEST_F(RefusalAuditTest, ARequestThatTheAuditFilterTakesOverHasNoEvent) {
  Run(MakeRefusalAudit(inputs), [](Exchange& reached) -> Task<> {
    reached.reply.BeforeHead(nullptr);  // as the filter "audit" replaces it
    reached.audit.decided = true;
    co_await reached.reply.SendText(200, "text/plain", "ok");
  });
  EXPECT_EQ(response.code, 200);
  EXPECT_THAT(events->heads, IsEmpty());
}

TEST_F(RefusalAuditTest, TheLevelNoneRecordsNothing) {
  Audit("None");
  Run(MakeRefusalAudit(inputs),
      [](Exchange& reached) -> Task<> { co_await reached.reply.SendError(meta::Unauthorized("no")); });
  EXPECT_EQ(response.code, 401);
  EXPECT_THAT(events->heads, IsEmpty());
}

TEST_F(RefusalAuditTest, AnExceptionIsRecordedAndThrownOn) {
  const auto throws = [](Exchange&) -> Task<> {
    throw std::runtime_error("broken");
    co_return;
  };
  EXPECT_THROW(Run(MakeRefusalAudit(inputs), throws), std::runtime_error);
  EXPECT_THAT(events->heads, ElementsAre(HasSubstr(R"("stage":"Panic")")));
  exchange.audit.decided = true;  // the filter "audit" has recorded it
  EXPECT_THROW(Run(MakeRefusalAudit(inputs), throws), std::runtime_error);
  EXPECT_EQ(events->heads.size(), 1u);
}

}  // namespace
}  // namespace apimesh::aggregator
