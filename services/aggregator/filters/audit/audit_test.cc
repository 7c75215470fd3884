#include "services/aggregator/filters/audit/audit.h"

#include "services/aggregator/audit/auditor.h"
#include "services/aggregator/filters/testing_filter.h"

namespace apimesh::aggregator {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kTotal = R"("apiserver.latency.k8s.io/total":"600ms")";

/// Keeps the annotations of the events.
class Recorded final : public AuditBackend {
 public:
  Task<bool> Process(AuditEvents events) override {
    for (const AuditEventPtr& event : events) annotations.push_back(event->annotations);
    co_return true;
  }
  std::vector<std::string> annotations;
};

struct AuditTest : FilterTest {
  AuditTest() {
    AuditPolicy policy = AuditPolicy::FromText("apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]");
    inputs.auditor = std::make_shared<Auditor>(std::move(policy), events, false,
                                               std::make_shared<AuditMetrics>(metrics, clock), clock);
    exchange.user = MakeUser({.name = "ann", .uid = "", .groups = {}, .extra = {}});
    exchange.latency.authentication = std::chrono::milliseconds(100);
  }
  const std::shared_ptr<Recorded> events = std::make_shared<Recorded>();
};

TEST_F(AuditTest, TheLastEventOfASlowRequestHasItsLatency) {
  Run(MakeAudit(inputs), [this](Exchange& reached) -> Task<> {
    clock.Advance(std::chrono::milliseconds(600));
    co_await reached.reply.SendText(200, "text/plain", "ok");
  });
  ASSERT_EQ(events->annotations.size(), 2u);
  EXPECT_THAT(events->annotations[0], Not(HasSubstr("latency")));
  EXPECT_THAT(events->annotations[1], HasSubstr(kTotal));
  EXPECT_THAT(events->annotations[1], HasSubstr(R"("apiserver.latency.k8s.io/authentication":"100ms")"));
}

TEST_F(AuditTest, TheLatencyOfAStreamIsThatAtItsEnd) {
  exchange.long_running = true;
  Run(MakeAudit(inputs), [this](Exchange& reached) -> Task<> {
    co_await reached.reply.Start(200, http::Headers(), false);
    clock.Advance(std::chrono::milliseconds(600));
    co_await reached.reply.Finish();
  });
  ASSERT_EQ(events->annotations.size(), 3u);
  EXPECT_THAT(events->annotations[1], Not(HasSubstr("latency"))) << "the response starts";
  EXPECT_THAT(events->annotations[2], HasSubstr(kTotal));
}

}  // namespace
}  // namespace apimesh::aggregator
