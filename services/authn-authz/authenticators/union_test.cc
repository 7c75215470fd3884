#include "services/authn-authz/authenticators/union.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/authn-authz/testing/fakes.h"

namespace apimesh::authn_authz {
namespace {

using fake::Await;
using fake::Headers;
using fake::Show;
using ::testing::ElementsAre;

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

}  // namespace
}  // namespace apimesh::authn_authz
