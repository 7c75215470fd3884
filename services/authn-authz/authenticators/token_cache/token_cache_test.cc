#include "services/authn-authz/authenticators/token_cache/token_cache.h"

#include <gtest/gtest.h>

#include "services/authn-authz/testing/fakes.h"

namespace apimesh::authn_authz {
namespace {

using fake::Await;
using fake::Token;

class Counting final : public TokenAuthenticator {
 public:
  Task<AuthenticationResult> AuthenticateToken(TokenQuestionPtr question) override {
    ++calls;
    if (question->token == "good") co_return std::optional(Authenticated{.user = {"a", "", {}, {}}, .audiences = {}});
    co_return BadCredential("no");
  }
  int calls = 0;
};

TEST(TokenCache, KeepsSuccessesForTheirTimeAndForgetsOnClear) {
  fake::ManualClock clock;
  auto inner = std::make_unique<Counting>();
  Counting& counting = *inner;
  TokenCache cache(std::move(inner), {}, clock);
  const auto ask = [&](std::string token, std::vector<std::string> audiences = {}) {
    Await(cache.AuthenticateToken(Token(std::move(token), std::move(audiences))));
    return counting.calls;
  };
  EXPECT_EQ(ask("good"), 1);
  EXPECT_EQ(ask("good"), 1);
  EXPECT_EQ(ask("good", {"other"}), 2);
  clock.Advance(std::chrono::seconds(11));
  EXPECT_EQ(ask("good"), 3);
  cache.Clear();
  EXPECT_EQ(ask("good"), 4);
  EXPECT_EQ(ask("bad"), 5);
  EXPECT_EQ(ask("bad"), 6);  // failures are not cached
}

TEST(TokenCache, RefusedTokensAreBoundedAndPushOutNothing) {
  fake::ManualClock clock;
  auto inner = std::make_unique<Counting>();
  Counting& counting = *inner;
  TokenCache cache(std::move(inner), {.success = std::chrono::seconds(60), .failure = std::chrono::seconds(60)}, clock);
  Await(cache.AuthenticateToken(Token("good")));
  for (int i = 0; i < 20'000; ++i) Await(cache.AuthenticateToken(Token(std::string(1000, 'x') + std::to_string(i))));
  EXPECT_LT(cache.RememberedBytes(), 3u << 20);
  const int calls = counting.calls;
  Await(cache.AuthenticateToken(Token("good")));
  EXPECT_EQ(counting.calls, calls) << "the accepted token is still remembered";
  clock.Advance(std::chrono::seconds(61));
  Await(cache.AuthenticateToken(Token("good")));
  EXPECT_LT(cache.RememberedBytes(), 1000u) << "what has expired is dropped";
}

}  // namespace
}  // namespace apimesh::authn_authz
