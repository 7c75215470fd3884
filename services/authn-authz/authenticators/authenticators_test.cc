#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/authn-authz/authenticators/anonymous/anonymous.h"
#include "services/authn-authz/authenticators/bearer/bearer.h"
#include "services/authn-authz/authenticators/bootstrap/bootstrap.h"
#include "services/authn-authz/authenticators/token_cache/token_cache.h"
#include "services/authn-authz/authenticators/tokenfile/tokenfile.h"
#include "services/authn-authz/authenticators/union.h"
#include "services/authn-authz/testing/fakes.h"

namespace apimesh::authn_authz {
namespace {

using fake::Await;
using fake::Headers;
using fake::Show;
using fake::Token;
using ::testing::ElementsAre;

std::unique_ptr<TokenAuthenticator> File(std::string_view csv) { return std::move(NewTokenFile(csv, "f").value()); }

TEST(TokenFile, ReadsUsersAndGroups) {
  const auto file = File("t1,alice,u1,\"a,b\"\n\nt2,bob,u2\n,nobody,u3\nt1,carol,u4,x\n");
  const AuthenticationResult answer = Await(file->AuthenticateToken(Token("t1")));
  EXPECT_EQ(Show(answer), "user: carol");  // the last line with the token takes precedence
  EXPECT_THAT((*answer)->user.groups, ElementsAre("x"));
  EXPECT_EQ(Show(Await(file->AuthenticateToken(Token("t2")))), "user: bob");
  EXPECT_EQ(Show(Await(file->AuthenticateToken(Token("")))), "not mine");
  EXPECT_FALSE(NewTokenFile("a,b\n", "f"));
  EXPECT_FALSE(NewTokenFile("a,\"b\n", "f"));
}

class Fixed final : public Authenticator {
 public:
  explicit Fixed(AuthenticationResult answer) : answer_(std::move(answer)) {}
  Task<AuthenticationResult> Authenticate(CredentialsPtr) override { co_return answer_; }

 private:
  AuthenticationResult answer_;
};
AuthenticationResult User(std::string name, std::vector<std::string> groups = {}) {
  return std::optional(Authenticated{.user = {std::move(name), "", std::move(groups), {}}, .audiences = {}});
}
std::string AskUnion(std::vector<AuthenticationResult> answers, OnError on_error) {
  std::vector<std::unique_ptr<Authenticator>> parts;
  for (AuthenticationResult& answer : answers) parts.push_back(std::make_unique<Fixed>(std::move(answer)));
  return Show(Await(NewUnion(std::move(parts), on_error)->Authenticate(Headers({}))));
}

TEST(Union, AsksInOrderAndJoinsErrors) {
  const AuthenticationResult none = std::optional<Authenticated>(), bad = BadCredential("e1"),
                             worse = BadCredential("e2");
  EXPECT_EQ(AskUnion({none, User("a"), User("b")}, OnError::kTryTheRest), "user: a");
  EXPECT_EQ(AskUnion({bad, User("a")}, OnError::kTryTheRest), "user: a");
  EXPECT_EQ(AskUnion({bad, User("a")}, OnError::kStop), "bad: e1");
  EXPECT_EQ(AskUnion({bad, none, worse, bad}, OnError::kTryTheRest), "bad: [e1, e2]");
  EXPECT_EQ(AskUnion({none, none}, OnError::kTryTheRest), "not mine");
}

TEST(Groups, AddsAuthenticatedOnlyWhereItBelongs) {
  const auto groups = [](AuthenticationResult answer) {
    return (*Await(NewAuthenticatedGroupAdder(std::make_unique<Fixed>(std::move(answer)))->Authenticate(Headers({}))))
        ->user.groups;
  };
  EXPECT_THAT(groups(User("a", {"x"})), ElementsAre("x", "system:authenticated"));
  EXPECT_THAT(groups(User("system:anonymous", {"x"})), ElementsAre("x"));
  EXPECT_THAT(groups(User("a", {"system:unauthenticated"})), ElementsAre("system:unauthenticated"));
}

TEST(Anonymous, MayBeLimitedToPaths) {
  auto credentials = std::make_shared<Credentials>();
  credentials->path = "/livez";
  EXPECT_EQ(Show(Await(NewAnonymous({})->Authenticate(credentials))), "user: system:anonymous");
  EXPECT_EQ(Show(Await(NewAnonymous({"/livez"})->Authenticate(credentials))), "user: system:anonymous");
  EXPECT_EQ(Show(Await(NewAnonymous({"/healthz"})->Authenticate(credentials))), "not mine");
}

TEST(Bearer, ReadsTheHeaderAsTheReferenceDoes) {
  const auto ask = [](std::string header) {
    return Show(
        Await(NewBearer(File("secret,alice,u"))->Authenticate(Headers({{"authorization", std::move(header)}}))));
  };
  EXPECT_EQ(ask("Bearer secret"), "user: alice");
  EXPECT_EQ(ask("  bEaReR secret ignored"), "user: alice");
  EXPECT_EQ(ask("Bearer wrong"), "bad: invalid bearer token");
  EXPECT_EQ(ask("Bearer  secret"), "not mine");
  EXPECT_EQ(ask("Bearer"), "not mine");
  EXPECT_EQ(ask("Basic secret"), "not mine");
  EXPECT_EQ(ask(""), "not mine");
}

TEST(WebSocketBearer, NeedsAnotherProtocolAndGoodEncoding) {
  const auto ask = [](std::string protocols) {
    return Show(Await(NewWebSocketBearer(File("secret,alice,u"))
                          ->Authenticate(Headers({{"upgrade", "websocket"},
                                                  {"connection", "keep-alive, Upgrade"},
                                                  {"sec-websocket-protocol", std::move(protocols)}}))));
  };
  const std::string token = "base64url.bearer.authorization.k8s.io.c2VjcmV0";
  EXPECT_EQ(ask(token + ", v4.channel.k8s.io"), "user: alice");
  EXPECT_EQ(ask(token), "bad: missing additional subprotocol");
  EXPECT_EQ(ask("a," + token + "," + token), "bad: multiple base64.bearer.authorization tokens specified");
  EXPECT_EQ(ask("a,base64url.bearer.authorization.k8s.io.c2V$"),
            "bad: invalid base64.bearer.authorization token encoding");
  EXPECT_EQ(ask("a"), "not mine");
}

class Counting final : public TokenAuthenticator {
 public:
  Task<AuthenticationResult> AuthenticateToken(TokenQuestionPtr question) override {
    ++calls;
    if (question->token == "good") co_return User("a");
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

struct BootstrapCase {
  const char* name;
  std::string token;
  std::map<std::string, std::string> change;  // "" removes a key
  const char* want;
};
const BootstrapCase kBootstrapCases[] = {
    {"Good", "abcdef.0123456789abcdef", {}, "user: system:bootstrap:abcdef"},
    {"WrongSecret", "abcdef.0123456789abcdee", {}, "not mine"},
    {"UnknownId", "abcdeg.0123456789abcdef", {}, "not mine"},
    {"BadShape", "ABCDEF.0123456789abcdef", {}, "not mine"},
    {"Expired", "abcdef.0123456789abcdef", {{"expiration", "2001-01-01T00:00:00Z"}}, "not mine"},
    {"BadExpiry", "abcdef.0123456789abcdef", {{"expiration", "tomorrow"}}, "not mine"},
    {"Valid", "abcdef.0123456789abcdef", {{"expiration", "2099-01-01T00:00:00Z"}}, "user: system:bootstrap:abcdef"},
    {"NotForAuthentication", "abcdef.0123456789abcdef", {{"usage-bootstrap-authentication", "false"}}, "not mine"},
    {"BadGroup", "abcdef.0123456789abcdef", {{"auth-extra-groups", "system:masters"}}, "not mine"},
    {"WrongIdInside", "abcdef.0123456789abcdef", {{"token-id", "zzzzzz"}}, "not mine"},
};
class BootstrapTokens : public ::testing::TestWithParam<BootstrapCase> {};
TEST_P(BootstrapTokens, AreChecked) {
  fake::ManualClock clock;
  auto objects = std::make_shared<fake::FakeTokenObjects>();
  TokenObject secret{
      .uid = "u",
      .deleted_at = {},
      .type = "bootstrap.kubernetes.io/token",
      .data = {
          {"token-id", "abcdef"}, {"token-secret", "0123456789abcdef"}, {"usage-bootstrap-authentication", "true"}}};
  for (const auto& [key, value] : GetParam().change) secret.data[key] = value;
  objects->Put(TokenObjectKind::kSecret, "kube-system", "bootstrap-token-abcdef", secret);
  EXPECT_EQ(Show(Await(NewBootstrapToken(objects, clock)->AuthenticateToken(Token(GetParam().token)))),
            GetParam().want);
}
INSTANTIATE_TEST_SUITE_P(Table, BootstrapTokens, ::testing::ValuesIn(kBootstrapCases),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace apimesh::authn_authz
