#include "services/core-api/groups/authorization/access_reviews.h"

#include <gtest/gtest.h>

#include "lib/codec/codec.h"
#include "lib/testing/manual_clock.h"
#include "lib/testing/run.h"
#include "services/core-api/groups/authentication/reviews.h"
#include "services/core-api/groups/authentication/token_request.h"
#include "services/core-api/groups/kind_inputs.h"

namespace apimesh::core_api {
namespace {

meta::Object Parse(std::string_view text) { return meta::Object(codec::ParseJson(text, {})->as_object()); }

/// Allows one user, and returns the resource or path of the question as the reason.
class FakeAuth final : public service::AuthClient {
 public:
  Task<meta::Result<service::TokenIdentity>> ReviewToken(std::string token, std::vector<std::string>,
                                                         SteadyTime) override {
    service::TokenIdentity identity;
    identity.authenticated = token == "good";
    if (identity.authenticated) identity.user.name = "ann";
    if (!identity.authenticated) identity.error = "invalid bearer token";
    co_return identity;
  }
  Task<meta::Result<service::AccessDecision>> Authorize(service::AccessQuestion question, SteadyTime) override {
    service::AccessDecision decision;
    decision.allowed = question.user.name == "ann";
    decision.reason = question.info.is_resource_request ? question.info.resource : question.info.path;
    co_return decision;
  }
  Task<meta::Result<service::AccessRules>> Rules(meta::UserInfo, std::string ns, SteadyTime) override {
    service::AccessRules rules;
    rules.resources.push_back({{"get"}, {""}, {ns}, {}});
    co_return rules;
  }
};

std::string Act(const registry::Action& action, std::string_view body) {
  meta::RequestContext::State state;
  state.user.name = "ann";
  const meta::Result<meta::Object> result =
      apimesh::testing::RunTask(action(meta::RequestContext(std::move(state)), "", Parse(body), false));
  if (!result) return std::to_string(result.error().Code()) + " " + result.error().Message();
  return codec::WriteJson(*meta::FindField(result->Root(), "status"));
}

TEST(Reviews, AnswerWithAStatus) {
  const apimesh::testing::ManualClock clock;
  KindInputs inputs;
  inputs.auth = std::make_shared<FakeAuth>();
  inputs.clock = &clock;
  struct Case {
    registry::Resource (*resource)(const KindInputs&);
    const char *body, *status;
  };
  const Case cases[] = {
      {&SelfSubjectAccessReviewResource, R"({"spec":{"resourceAttributes":{"resource":"pods","verb":"get"}}})",
       R"({"allowed":true,"reason":"pods"})"},
      {&SelfSubjectAccessReviewResource, R"({"spec":{"nonResourceAttributes":{"path":"/x","verb":"get"}}})",
       R"({"allowed":true,"reason":"/x"})"},
      {&SubjectAccessReviewResource, R"({"spec":{"user":"bob","resourceAttributes":{"resource":"pods","verb":"get"}}})",
       R"({"allowed":false,"reason":"pods"})"},
      {&SelfSubjectRulesReviewResource, R"({"spec":{"namespace":"n"}})",
       R"({"resourceRules":[{"verbs":["get"],"apiGroups":[""],"resources":["n"]}],"nonResourceRules":[],"incomplete":false})"},
      {&SelfSubjectRulesReviewResource, R"({"spec":{}})", "400 no namespace on request"},
      {&TokenReviewResource, R"({"spec":{"token":"good"}})", R"({"authenticated":true,"user":{"username":"ann"}})"},
      {&TokenReviewResource, R"({"spec":{"token":"bad"}})", R"({"user":{},"error":"invalid bearer token"})"},
      {&TokenReviewResource, R"({"spec":{}})", "400 token is required for TokenReview in authentication"},
      {&SelfSubjectReviewResource, R"({})", R"({"userInfo":{"username":"ann"}})"},
  };
  for (const Case& c : cases) EXPECT_EQ(Act(c.resource(inputs).create, c.body), c.status) << c.body;
}

TEST(Reviews, RefuseWhatCantBeAsked) {
  struct Case {
    ReviewKind kind;
    const char* body;
    std::size_t errors;
  };
  const Case cases[] = {
      {ReviewKind::kSelf, R"({"spec":{}})", 1},
      {ReviewKind::kSelf, R"({"spec":{"resourceAttributes":{},"nonResourceAttributes":{}}})", 1},
      {ReviewKind::kSubject, R"({"spec":{"resourceAttributes":{}}})", 1},
      {ReviewKind::kSubject, R"({"spec":{"groups":["g"],"resourceAttributes":{}}})", 0},
      {ReviewKind::kLocal,
       R"({"metadata":{"namespace":"a"},"spec":{"user":"u","resourceAttributes":{"namespace":"b"}}})", 1},
      {ReviewKind::kLocal, R"({"metadata":{"namespace":"a"},"spec":{"user":"u","nonResourceAttributes":{}}})", 1},
  };
  for (const Case& c : cases) EXPECT_EQ(ValidateReview(Parse(c.body), c.kind).size(), c.errors) << c.body;
}

std::string List(std::size_t count, const std::string& item) {
  std::string list;
  for (std::size_t i = 0; i < count; ++i) list += (i == 0 ? "" : ",") + item;
  return "[" + list + "]";
}
std::string Extra(std::size_t count) {
  std::string extra;
  for (std::size_t i = 0; i < count; ++i) extra += fmt::format(R"({}"e{}":["a"])", i == 0 ? "" : ",", i);
  return "{" + extra + "}";
}

TEST(Reviews, RefuseLargeQuestions) {
  const apimesh::testing::ManualClock clock;
  KindInputs inputs;
  inputs.auth = std::make_shared<FakeAuth>();
  inputs.clock = &clock;
  const std::string rights = "400 an access review has more than 1000 groups and extra values";
  const std::string selector = "of an access review has more than 1000 requirements or 10000 values";
  const auto subject = [](const std::string& part) {
    return fmt::format(R"({{"spec":{{"user":"u",{},"resourceAttributes":{{"resource":"pods"}}}}}})", part);
  };
  const auto self = [](const std::string& part) {
    return fmt::format(R"({{"spec":{{"resourceAttributes":{{"resource":"pods",{}}}}}}})", part);
  };
  const std::string exists = R"({"key":"a","operator":"Exists"})";
  struct Case {
    registry::Resource (*resource)(const KindInputs&);
    std::string body, answer;
  };
  const Case cases[] = {
      {&SubjectAccessReviewResource, subject(R"("groups":)" + List(1000, R"("g")")),
       R"({"allowed":false,"reason":"pods"})"},
      {&SubjectAccessReviewResource, subject(R"("groups":)" + List(1001, R"("g")")), rights},
      {&SubjectAccessReviewResource, subject(R"("extra":)" + Extra(500)), R"({"allowed":false,"reason":"pods"})"},
      {&SubjectAccessReviewResource, subject(R"("extra":)" + Extra(501)), rights},
      {&SubjectAccessReviewResource, subject(R"("extra":{"a":)" + List(1000, R"("g")") + "}"), rights},
      {&SelfSubjectAccessReviewResource, self(R"("labelSelector":{"requirements":)" + List(1000, exists) + "}"),
       R"({"allowed":true,"reason":"pods"})"},
      {&SelfSubjectAccessReviewResource, self(R"("labelSelector":{"requirements":)" + List(1001, exists) + "}"),
       "400 the labelSelector " + selector},
      {&SelfSubjectAccessReviewResource,
       self(R"("fieldSelector":{"requirements":[{"key":"a","operator":"In","values":)" + List(10'001, R"("v")") +
            "}]}"),
       "400 the fieldSelector " + selector},
      {&TokenReviewResource, R"({"spec":{"token":"good","audiences":)" + List(1001, R"("a")") + "}}",
       "400 a TokenReview has more than 1000 audiences"},
  };
  for (const Case& c : cases) EXPECT_EQ(Act(c.resource(inputs).create, c.body), c.answer) << c.body.substr(0, 100);
}

TEST(TokenRequest, BoundsOfTheExpiry) {
  const std::pair<const char*, std::size_t> cases[] = {{R"({"spec":{}})", 0},
                                                       {R"({"spec":{"expirationSeconds":599}})", 1},
                                                       {R"({"spec":{"expirationSeconds":600}})", 0},
                                                       {R"({"spec":{"expirationSeconds":4294967297}})", 1}};
  for (const auto& [body, errors] : cases) EXPECT_EQ(ValidateTokenRequest(Parse(body)).size(), errors) << body;
}

}  // namespace
}  // namespace apimesh::core_api
