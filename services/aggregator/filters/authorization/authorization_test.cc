#include "services/aggregator/filters/authorization/authorization.h"

#include "services/aggregator/filters/testing_filter.h"
#include "services/aggregator/metrics/auth_metrics.h"
#include "services/aggregator/test_peers.h"

namespace apimesh::aggregator {
namespace {

struct AuthorizationTest : FilterTest {
  AuthorizationTest() {
    inputs.authority = authority;
    inputs.auth_metrics = std::make_shared<AuthMetrics>(metrics);
    authority->allowed = {"joe list pods"};
    exchange.user = MakeUser({.name = "joe", .uid = "", .groups = {}, .extra = {}});
    exchange.deadline = SteadyTime::max();
  }
  int CodeOf(std::string path) {
    exchange.path = std::move(path);
    exchange.info = meta::ParseRequestInfo("GET", exchange.path, "");
    response = RecordedResponse();
    Run(MakeAuthorization(inputs));
    return response.code;
  }

  const std::shared_ptr<FakeAuthority> authority = std::make_shared<FakeAuthority>();
};

TEST_F(AuthorizationTest, PassesOnWhatIsAllowed) {
  exchange.audit.wanted = true;
  EXPECT_EQ(CodeOf("/api/v1/pods"), 200);
  EXPECT_EQ(exchange.audit.annotations["authorization.k8s.io/decision"], "allow");
}

TEST_F(AuthorizationTest, RefusesWhatIsNot) {
  exchange.audit.wanted = true;
  EXPECT_EQ(CodeOf("/api/v1/secrets"), 403);
  EXPECT_THAT(response.text, ::testing::HasSubstr(R"(secrets is forbidden: User \"joe\" cannot list resource)"));
  EXPECT_EQ(response.Header("x-content-type-options"), "nosniff");
  EXPECT_EQ(exchange.audit.annotations["authorization.k8s.io/decision"], "forbid");
}

TEST_F(AuthorizationTest, WithoutAuthnAuthzOnlyHealthChecksPass) {
  authority->available = false;
  EXPECT_EQ(CodeOf("/api/v1/pods"), 503);
  EXPECT_EQ(CodeOf("/livez"), 200);
}

TEST_F(AuthorizationTest, ALongRunningRequestKeepsItsPermission) {
  exchange.grounds = std::make_unique<Grounds>(Grounds{{}, nullptr, {}});
  EXPECT_EQ(CodeOf("/api/v1/pods"), 200);
  ASSERT_EQ(exchange.grounds->permissions.size(), 1u);
  EXPECT_EQ(exchange.grounds->permissions[0].info.resource, "pods");
}

}  // namespace
}  // namespace apimesh::aggregator
