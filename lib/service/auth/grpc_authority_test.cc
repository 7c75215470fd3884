#include "lib/service/auth/grpc_authority.h"

#include <filesystem>
#include <future>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/grpc/server.h"
#include "lib/grpc/typed_call.h"
#include "lib/mesh/methods.h"
#include "lib/mesh/test_threads.h"
#include "lib/service/auth_client.h"
#include "lib/testing/system_clock.h"
#include "proto/mesh/v1/authn.pb.h"
#include "proto/mesh/v1/authz.pb.h"

namespace apimesh::service {
namespace {

namespace pb = mesh::v1;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Outcome = AuthenticationAnswer::Outcome;
using Verdict = AuthorizationAnswer::Verdict;

/// authn-authz with fixed rules: the token is the name of the user, "Bearer bad" is refused, and users may "get".
struct FakeAuthnAuthz {
  Task<pb::AuthenticateResponse> Authenticate(pb::AuthenticateRequest request) {
    authenticate = request;
    pb::AuthenticateResponse response;
    std::string name = "system:anonymous";
    for (const pb::Header& header : request.headers()) {
      if (header.name() == "authorization") name = header.value().substr(7);
    }
    response.set_outcome(name == "bad" ? pb::AuthenticateResponse::REFUSED : pb::AuthenticateResponse::AUTHENTICATED);
    if (name == "nothing") response.set_outcome(pb::AuthenticateResponse::NO_CREDENTIALS);
    response.mutable_user()->set_name(name == "invalid" ? "system:anonymous" : name);
    if (request.audiences_size() > 0) response.add_audiences(request.audiences(0));
    response.set_reason("because");
    response.set_cache_milliseconds(1500);
    response.set_revision(7);
    co_return response;
  }
  Task<pb::AuthorizeResponse> Authorize(pb::AuthorizeRequest request) {
    authorize = request;
    pb::AuthorizeResponse response;
    response.set_revision(8);
    for (const pb::Attributes& attributes : request.attributes()) {
      pb::Decision* decision = response.add_decisions();
      const std::string& verb = attributes.info().verb();
      decision->set_verdict(verb == "get"      ? pb::Decision::ALLOW
                            : verb == "delete" ? pb::Decision::DENY
                                               : pb::Decision::NO_OPINION);
      decision->set_reason("rule for " + verb);
      decision->set_cache_milliseconds(2000);
    }
    if (loses_decisions) response.clear_decisions();
    co_return response;
  }
  Task<pb::RulesResponse> Rules(pb::RulesRequest request) {
    pb::RulesResponse response;
    pb::ResourceRule* rule = response.add_resource_rules();
    rule->add_verbs("get");
    rule->add_api_groups("apps");
    rule->add_resources(request.namespace_());
    rule->add_resource_names(request.user().name());
    response.add_non_resource_rules()->add_paths("/healthz");
    response.set_incomplete(true);
    response.set_evaluation_error("partly");
    co_return response;
  }

  pb::AuthenticateRequest authenticate;
  pb::AuthorizeRequest authorize;
  std::atomic<bool> loses_decisions = false;
};

class GrpcAuthorities : public ::testing::Test {
 protected:
  GrpcAuthorities() {
    std::string pattern = ::testing::TempDir() + "apimesh-authority-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
    target_ = "unix:" + folder_ + "/s/authn.sock";
    grpc::Methods methods;
    methods.AddUnary(mesh::methods::kAuthenticate,
                     grpc::Typed<pb::AuthenticateRequest, pb::AuthenticateResponse>(
                         [this](pb::AuthenticateRequest request) { return fake_.Authenticate(std::move(request)); }));
    methods.AddUnary(mesh::methods::kAuthorize,
                     grpc::Typed<pb::AuthorizeRequest, pb::AuthorizeResponse>(
                         [this](pb::AuthorizeRequest request) { return fake_.Authorize(std::move(request)); }));
    methods.AddUnary(mesh::methods::kRules,
                     grpc::Typed<pb::RulesRequest, pb::RulesResponse>(
                         [this](pb::RulesRequest request) { return fake_.Rules(std::move(request)); }));
    server_ = grpc::Serve({{target_, "", "", "", {}}}, std::move(methods), {&threads_.server}, testing::SystemClock());
    const mesh::Endpoint endpoint{.target = target_, .ca_file = "", .cert_file = "", .key_file = ""};
    authority_ = std::make_shared<GrpcAuthority>(endpoint, testing::SystemClock());
    client_ = NewAuthClient(authority_, testing::SystemClock());
  }
  ~GrpcAuthorities() override {
    Stop();
    std::filesystem::remove_all(folder_);
  }
  void Stop() {
    if (server_) server_->Drain(std::chrono::milliseconds(100));
    server_.reset();
  }

  template <class T>
  T Await(Task<T> task) {
    return boost::asio::co_spawn(threads_.client, std::move(task), boost::asio::use_future).get();
  }
  AuthenticationAnswer Authenticate(const std::string& token) {
    AuthenticationQuestion question;
    question.headers.emplace_back("authorization", "Bearer " + token);
    question.certificates_der = {"leaf", "root"};
    question.path = "/api";
    return Await(authority_->Authenticate(question));
  }
  static AuthorizationQuestion To(const std::string& verb) {
    AuthorizationQuestion question;
    question.user = MakeUser({.name = "jane", .uid = "", .groups = {"team"}, .extra = {}});
    question.info.is_resource_request = true;
    question.info.verb = verb;
    question.info.resource = "pods";
    return question;
  }

  mesh::TestThreads threads_;
  FakeAuthnAuthz fake_;
  std::string folder_, target_;
  std::unique_ptr<grpc::Server> server_;
  std::shared_ptr<GrpcAuthority> authority_;
  AuthClientPtr client_;
};

TEST_F(GrpcAuthorities, AuthenticatesCredentials) {
  const AuthenticationAnswer answer = Authenticate("jane");
  EXPECT_EQ(answer.outcome, Outcome::kAuthenticated);
  ASSERT_TRUE(answer.user);
  EXPECT_EQ(answer.user->info.name, "jane");
  EXPECT_EQ(answer.user->fingerprint, MakeUser(answer.user->info)->fingerprint);
  EXPECT_EQ(answer.cache_for, std::chrono::milliseconds(1500));
  EXPECT_EQ(answer.revision, 7);
  EXPECT_THAT(fake_.authenticate.peer_certificates(), ElementsAre("leaf", "root"));
  EXPECT_EQ(fake_.authenticate.path(), "/api");
  EXPECT_EQ(Authenticate("bad").outcome, Outcome::kRefused);
  EXPECT_EQ(Authenticate("bad").user, nullptr);
  EXPECT_EQ(Authenticate("nothing").outcome, Outcome::kNoCredentials);
}

TEST_F(GrpcAuthorities, AuthorizesOneQuestionOrSeveral) {
  EXPECT_EQ(Await(authority_->Authorize(To("get"))).verdict, Verdict::kAllow);
  EXPECT_EQ(fake_.authorize.attributes(0).user().name(), "jane");
  const auto answers = Await(authority_->AuthorizeAll({To("get"), To("delete"), To("list")}));
  ASSERT_EQ(answers.size(), 3u);
  EXPECT_EQ(answers[0].verdict, Verdict::kAllow);
  EXPECT_EQ(answers[1].verdict, Verdict::kDeny);
  EXPECT_FALSE(answers[1].no_opinion);
  EXPECT_TRUE(answers[2].no_opinion);
  EXPECT_EQ(answers[2].reason, "rule for list");
  EXPECT_EQ(answers[2].revision, 8);
}

TEST_F(GrpcAuthorities, AnAnswerWithoutADecisionIsADenial) {
  fake_.loses_decisions = true;
  EXPECT_EQ(Await(authority_->Authorize(To("get"))).verdict, Verdict::kDeny);
  EXPECT_EQ(Await(authority_->AuthorizeAll({To("get")}))[0].verdict, Verdict::kUnavailable);
}

TEST_F(GrpcAuthorities, GroupServersReviewTokens) {
  const auto identity = Await(client_->ReviewToken("jane", {"vault"}, SteadyTime::max()));
  ASSERT_TRUE(identity);
  EXPECT_TRUE(identity->authenticated);
  EXPECT_EQ(identity->user.name, "jane");
  EXPECT_THAT(identity->audiences, ElementsAre("vault"));
  EXPECT_EQ(fake_.authenticate.headers(0).value(), "Bearer jane");
  for (const char* token : {"bad", "invalid"}) {  // refused; accepted as anonymous
    const auto refused = Await(client_->ReviewToken(token, {}, SteadyTime::max()));
    ASSERT_TRUE(refused);
    EXPECT_FALSE(refused->authenticated) << token;
    EXPECT_EQ(refused->user.name, "") << token;
    EXPECT_EQ(refused->error, "because") << token;
  }
}

TEST_F(GrpcAuthorities, GroupServersAuthorizeWithSelectors) {
  AccessQuestion question;
  question.user.name = "jane";
  question.info.is_resource_request = true;
  question.info.verb = "delete";
  question.fields = {{"spec.nodeName", "=", {"n1"}}};
  question.labels = {{"app", "in", {"a", "b"}}};
  const auto denied = Await(client_->Authorize(question, SteadyTime::max()));
  ASSERT_TRUE(denied);
  EXPECT_FALSE(denied->allowed);
  EXPECT_TRUE(denied->denied);
  EXPECT_EQ(denied->reason, "rule for delete");
  const pb::Attributes& sent = fake_.authorize.attributes(0);
  EXPECT_EQ(sent.field_requirements(0).key(), "spec.nodeName");
  EXPECT_THAT(sent.label_requirements(0).values(), ElementsAre("a", "b"));
  question.info.verb = "list";
  const auto without_opinion = Await(client_->Authorize(question, SteadyTime::max()));
  EXPECT_FALSE(without_opinion->allowed || without_opinion->denied);
}

TEST_F(GrpcAuthorities, GroupServersReadRules) {
  const auto rules =
      Await(client_->Rules({.name = "jane", .uid = "", .groups = {}, .extra = {}}, "ns", SteadyTime::max()));
  ASSERT_TRUE(rules);
  EXPECT_THAT(rules->resources[0].resources, ElementsAre("ns"));
  EXPECT_THAT(rules->resources[0].names, ElementsAre("jane"));
  EXPECT_THAT(rules->non_resources[0].paths, ElementsAre("/healthz"));
  EXPECT_TRUE(rules->incomplete);
  EXPECT_EQ(rules->error, "partly");
}

TEST_F(GrpcAuthorities, AnUnreachableAuthorityIsAnError) {
  Stop();
  EXPECT_EQ(Authenticate("jane").outcome, Outcome::kUnavailable);
  EXPECT_EQ(Await(authority_->Authorize(To("get"))).verdict, Verdict::kUnavailable);
  EXPECT_EQ(Await(authority_->AuthorizeAll({To("get")}))[0].verdict, Verdict::kUnavailable);
  EXPECT_EQ(Await(authority_->Metrics()), "");
  const auto review = Await(client_->ReviewToken("jane", {}, SteadyTime::max()));
  ASSERT_FALSE(review);
  EXPECT_EQ(review.error().Code(), 500);
  EXPECT_THAT(review.error().Message(), HasSubstr("authn-authz: "));
  EXPECT_FALSE(Await(client_->Authorize({}, SteadyTime::max())));
  EXPECT_FALSE(Await(client_->Rules({}, "ns", SteadyTime::max())));
}

}  // namespace
}  // namespace apimesh::service
