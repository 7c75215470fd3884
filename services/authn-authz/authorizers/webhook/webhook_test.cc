#include "services/authn-authz/authorizers/webhook/webhook.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/authn-authz/testing/fake_review.h"
#include "services/authn-authz/testing/fakes.h"

namespace apimesh::authn_authz {
namespace {

using fake::Await;
using fake::FakeReview;
using ::testing::HasSubstr;

TEST(AuthorizationWebhook, LimitsItsCacheByBytes) {
  struct Case {
    const char* status;
    std::size_t cache_bytes;
  };
  for (const Case& c : {Case{R"("allowed":true)", 4 << 20}, Case{R"("allowed":false)", 1 << 20}}) {
    fake::ManualClock clock;
    const std::size_t reason = c.cache_bytes / 100;
    auto client =
        FakeReview::Answering(fmt::format(R"({{"status":{{{},"reason":"{}"}}}})", c.status, std::string(reason, 'r')));
    const auto webhook =
        NewAuthorizationWebhook(std::move(client), {.version = "v1", .match_conditions = {}}, "hook", clock, nullptr);
    const auto question = [](std::size_t i, std::size_t more) {
      auto attributes = std::make_shared<Attributes>();
      attributes->user.name = fmt::format("u{}", i);
      attributes->path = "/" + std::string(more, 'p');
      return attributes;
    };
    for (std::size_t i = 0; i < 300; ++i) Await(webhook->Decide(question(i, 0)));
    std::size_t known = 0;
    for (std::size_t i = 0; i < 300; ++i) known += webhook->DecideNow(*question(i, 0)).has_value();
    EXPECT_LT(known, 100u) << c.status << ": each answer has more bytes than its reason";
    EXPECT_GT(known, 80u) << c.status;
    EXPECT_TRUE(webhook->DecideNow(*question(299, 0))) << c.status << ": the oldest answers are dropped first";
    Await(webhook->Decide(question(0, 10'000)));
    EXPECT_FALSE(webhook->DecideNow(*question(0, 10'000))) << c.status << ": answers to long questions are not kept";
  }
}

TEST(AuthorizationWebhook, KeepsAnswersAndFailsAsConfigured) {
  fake::ManualClock clock;
  auto attributes = std::make_shared<Attributes>();
  attributes->user.name = "u";
  attributes->user.groups = {"g"};
  attributes->is_resource_request = true;
  attributes->verb = "list";
  attributes->resource = "pods";
  auto client = FakeReview::Answering(R"({"status":{"allowed":true,"reason":"r"}})");
  FakeReview& fake_client = *client;
  const auto webhook =
      NewAuthorizationWebhook(std::move(client), {.version = "v1", .match_conditions = {}}, "hook", clock, nullptr);
  EXPECT_FALSE(webhook->DecideNow(*attributes));
  EXPECT_EQ(Await(webhook->Decide(attributes)).verdict, Decision::Verdict::kAllow);
  EXPECT_EQ(
      fake_client.sent.at(0),
      R"({"kind":"SubjectAccessReview","apiVersion":"authorization.k8s.io/v1","metadata":{},"spec":{"resourceAttributes":)"
      R"({"verb":"list","resource":"pods"},"user":"u","groups":["g"]}})");
  ASSERT_TRUE(webhook->DecideNow(*attributes));
  clock.Advance(std::chrono::minutes(6));
  EXPECT_FALSE(webhook->DecideNow(*attributes));
  for (const bool deny : {true, false}) {
    auto broken = std::make_unique<FakeReview>(meta::InternalError("away"));
    const Decision decision =
        Await(NewAuthorizationWebhook(std::move(broken), {.deny_on_error = deny, .match_conditions = {}}, "hook", clock,
                                      nullptr)
                  ->Decide(attributes));
    EXPECT_EQ(decision.verdict, deny ? Decision::Verdict::kDeny : Decision::Verdict::kNoOpinion);
    EXPECT_THAT(decision.error, HasSubstr("away"));
  }
}

}  // namespace
}  // namespace apimesh::authn_authz
