#include "lib/service/auth_client.h"

namespace apimesh::service {
namespace {

constexpr std::chrono::seconds kLongestQuestion{10};

class AuthorityClient final : public AuthClient {
 public:
  AuthorityClient(AuthorityPtr authority, const Clock& clock) : authority_(std::move(authority)), clock_(clock) {}

  Task<meta::Result<TokenIdentity>> ReviewToken(std::string token, std::vector<std::string> audiences,
                                                SteadyTime deadline) override {
    AuthenticationQuestion question;
    question.headers.emplace_back("authorization", "Bearer " + token);
    question.audiences = std::move(audiences);
    question.deadline = Limited(deadline);
    AuthenticationAnswer answer = co_await authority_->Authenticate(std::move(question));
    if (answer.outcome == AuthenticationAnswer::Outcome::kUnavailable) co_return AuthorityUnreachable(answer.reason);
    TokenIdentity identity;
    // A request that is accepted as anonymous has no valid token.
    identity.authenticated =
        answer.outcome == AuthenticationAnswer::Outcome::kAuthenticated && answer.user->info.name != "system:anonymous";
    if (identity.authenticated) {
      identity.user = answer.user->info;
      identity.audiences = std::move(answer.audiences);
    }
    identity.error = std::move(answer.reason);
    co_return identity;
  }

  Task<meta::Result<AccessDecision>> Authorize(AccessQuestion asked, SteadyTime deadline) override {
    AuthorizationQuestion question;
    question.user = MakeUser(std::move(asked.user));
    question.info = std::move(asked.info);
    question.fields = std::move(asked.fields);
    question.labels = std::move(asked.labels);
    question.deadline = Limited(deadline);
    AuthorizationAnswer answer = co_await authority_->Authorize(std::move(question));
    if (answer.verdict == AuthorizationAnswer::Verdict::kUnavailable) co_return AuthorityUnreachable(answer.reason);
    AccessDecision decision;
    decision.allowed = answer.verdict == AuthorizationAnswer::Verdict::kAllow;
    decision.denied = !decision.allowed && !answer.no_opinion;
    decision.reason = std::move(answer.reason);
    decision.error = std::move(answer.error);
    co_return decision;
  }

  Task<meta::Result<AccessRules>> Rules(meta::UserInfo user, std::string ns, SteadyTime deadline) override {
    return authority_->Rules(std::move(user), std::move(ns), Limited(deadline));
  }

 private:
  SteadyTime Limited(SteadyTime deadline) const { return std::min(deadline, clock_.Steady() + kLongestQuestion); }

  const AuthorityPtr authority_;
  const Clock& clock_;
};

}  // namespace

AuthClientPtr NewAuthClient(AuthorityPtr authority, const Clock& clock) {
  return std::make_shared<AuthorityClient>(std::move(authority), clock);
}

}  // namespace apimesh::service
