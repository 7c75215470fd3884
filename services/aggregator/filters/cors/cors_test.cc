#include "services/aggregator/filters/cors/cors.h"

#include "services/aggregator/filters/testing_filter.h"

namespace apimesh::aggregator {
namespace {

struct CorsTest : FilterTest {
  CorsTest() { options.Get<CorsOptions>().allowed_origins = {"//example\\.com(:|$)"}; }
  void RunFrom(std::string origin) {
    exchange.request.headers = {{"origin", std::move(origin)}};
    Run(MakeCors(inputs));
  }
};

TEST_F(CorsTest, AnAllowedOriginMayReadTheAnswer) {
  RunFrom("https://example.com:8080");
  EXPECT_EQ(response.code, 200);
  EXPECT_EQ(response.Header("access-control-allow-origin"), "https://example.com:8080");
  EXPECT_EQ(response.Header("access-control-allow-credentials"), "true");
}

TEST_F(CorsTest, AnotherOriginMayNot) {
  for (const char* origin : {"https://example.org", "https://example.com.evil.org", ""}) {
    RunFrom(origin);
    EXPECT_EQ(response.code, 200) << origin;
    EXPECT_EQ(response.Header("access-control-allow-origin"), "") << origin;
  }
}

TEST_F(CorsTest, APreflightRequestIsAnsweredBeforeAuthentication) {
  exchange.request.method = "OPTIONS";
  RunFrom("https://example.com");
  EXPECT_EQ(response.code, 204);
  EXPECT_EQ(response.Header("access-control-allow-methods"), "POST, GET, OPTIONS, PUT, DELETE, PATCH");
}

TEST_F(CorsTest, APreflightRequestOfAnotherOriginIsNot) {
  exchange.request.method = "OPTIONS";
  RunFrom("https://example.org");
  EXPECT_EQ(response.code, 200);  // the answer of the next filter
}

TEST_F(CorsTest, AnInvalidExpressionEndsTheStart) {
  options.Get<CorsOptions>().allowed_origins = {"("};
  EXPECT_THROW(MakeCors(inputs), std::runtime_error);
}

}  // namespace
}  // namespace apimesh::aggregator
