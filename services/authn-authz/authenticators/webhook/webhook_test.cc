#include "services/authn-authz/authenticators/webhook/webhook.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/authn-authz/testing/fake_review.h"
#include "services/authn-authz/testing/fakes.h"

namespace apimesh::authn_authz {
namespace {

using fake::Await;
using fake::FakeReview;
using fake::Show;
using fake::Token;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(TokenWebhook, ReadsTheReview) {
  const fake::ManualClock clock;
  const auto ask = [&clock](std::string_view answer, std::vector<std::string> audiences) {
    auto client = FakeReview::Answering(answer);
    return Await(
        NewTokenWebhook(std::move(client), "v1", {"api"}, clock)->AuthenticateToken(Token("t", std::move(audiences))));
  };
  const AuthenticationResult good =
      ask(R"({"status":{"authenticated":true,"user":{"username":"u","groups":["g"],"extra":{"k":["v"]}}}})", {"api"});
  ASSERT_EQ(Show(good), "user: u");
  EXPECT_THAT((*good)->audiences, ElementsAre("api"));
  EXPECT_EQ(Show(ask(R"({"status":{"authenticated":true,"audiences":["x"]}})", {"api"})), "not mine");
  EXPECT_EQ(Show(ask(R"({"status":{"authenticated":false,"error":"no"}})", {})), "bad: no");
  EXPECT_EQ(Show(ask(R"({"status":{}})", {})), "not mine");
  auto broken = std::make_unique<FakeReview>(meta::InternalError("away"));
  EXPECT_THAT(Show(Await(NewTokenWebhook(std::move(broken), "v1", {}, clock)->AuthenticateToken(Token("t")))),
              HasSubstr("away"));
}

}  // namespace
}  // namespace apimesh::authn_authz
