#include "services/aggregator/filters/authentication/authentication.h"

#include "services/aggregator/filters/testing_filter.h"
#include "services/aggregator/metrics/auth_metrics.h"
#include "services/aggregator/test_peers.h"

namespace apimesh::aggregator {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

struct AuthenticationTest : FilterTest {
  AuthenticationTest() {
    inputs.authority = authority;
    inputs.auth_metrics = std::make_shared<AuthMetrics>(metrics);
    exchange.path = "/api/v1/pods";
  }
  void RunWith(http::Headers headers) {
    exchange.request.headers = std::move(headers);
    Run(MakeAuthentication(inputs));
  }

  const std::shared_ptr<FakeAuthority> authority = std::make_shared<FakeAuthority>();
};

TEST_F(AuthenticationTest, DeterminesTheUserAndDropsTheCredential) {
  RunWith({{"authorization", "Bearer ann"}, {"accept", "application/json"}});
  EXPECT_EQ(response.code, 200);
  EXPECT_EQ(exchange.user->info.name, "ann");
  EXPECT_THAT(authority->last_headers, ElementsAre(Pair("authorization", "Bearer ann")));
  EXPECT_THAT(exchange.request.headers, ElementsAre(Pair("accept", "application/json")));
}

TEST_F(AuthenticationTest, AnswersInvalidCredentialsWith401) {
  RunWith({{"authorization", "Bearer bad"}});
  EXPECT_EQ(response.code, 401);
  EXPECT_FALSE(exchange.user);
}

TEST_F(AuthenticationTest, SaysThatAuthnAuthzIsUnavailable) {
  authority->available = false;
  RunWith({{"authorization", "Bearer ann"}});
  EXPECT_EQ(response.code, 503);
}

TEST_F(AuthenticationTest, RemovesTokensFromTheProtocolsOfAWebSocket) {
  RunWith({{"authorization", "Bearer ann"},
           {"sec-websocket-protocol", "base64url.bearer.authorization.k8s.io.YW5u, v5.channel.k8s.io"}});
  EXPECT_THAT(exchange.request.headers, ElementsAre(Pair("sec-websocket-protocol", "v5.channel.k8s.io")));
}

TEST_F(AuthenticationTest, SendsIdentityHeadersToAuthnAuthzOnly) {
  RunWith({{"x-remote-user", "root"}, {"x-remote-group", "system:masters"}});
  EXPECT_THAT(authority->last_headers,
              ElementsAre(Pair("x-remote-user", "root"), Pair("x-remote-group", "system:masters")));
  EXPECT_TRUE(exchange.request.headers.empty());
}

}  // namespace
}  // namespace apimesh::aggregator
