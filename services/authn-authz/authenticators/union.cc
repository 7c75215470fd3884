#include "services/authn-authz/authenticators/union.h"

#include "services/authn-authz/config/join_errors.h"

namespace apimesh::authn_authz {
namespace {

Task<AuthenticationResult> Ask(Authenticator& part, CredentialsPtr credentials) {
  return part.Authenticate(std::move(credentials));
}
Task<AuthenticationResult> Ask(TokenAuthenticator& part, TokenQuestionPtr question) {
  return part.AuthenticateToken(std::move(question));
}

template <class Part, class Question>
Task<AuthenticationResult> AskEach(const std::vector<std::unique_ptr<Part>>& parts, OnError on_error,
                                   Question question) {
  std::vector<std::string> errors;
  for (const auto& part : parts) {
    AuthenticationResult answer = co_await Ask(*part, question);
    if (answer && *answer) co_return answer;
    if (answer) continue;
    if (on_error == OnError::kStop) co_return answer;
    errors.push_back(answer.error().Message());
  }
  if (errors.empty()) co_return std::optional<Authenticated>();
  co_return BadCredential(JoinErrors(errors));
}

class RequestUnion final : public Authenticator {
 public:
  RequestUnion(std::vector<std::unique_ptr<Authenticator>> parts, OnError on_error)
      : parts_(std::move(parts)), on_error_(on_error) {}
  Task<AuthenticationResult> Authenticate(CredentialsPtr credentials) override {
    return AskEach(parts_, on_error_, std::move(credentials));
  }

 private:
  std::vector<std::unique_ptr<Authenticator>> parts_;
  OnError on_error_;
};

class TokenUnion final : public TokenAuthenticator {
 public:
  TokenUnion(std::vector<std::unique_ptr<TokenAuthenticator>> parts, OnError on_error)
      : parts_(std::move(parts)), on_error_(on_error) {}
  Task<AuthenticationResult> AuthenticateToken(TokenQuestionPtr question) override {
    return AskEach(parts_, on_error_, std::move(question));
  }

 private:
  std::vector<std::unique_ptr<TokenAuthenticator>> parts_;
  OnError on_error_;
};

class AuthenticatedGroupAdder final : public Authenticator {
 public:
  explicit AuthenticatedGroupAdder(std::unique_ptr<Authenticator> inner) : inner_(std::move(inner)) {}
  Task<AuthenticationResult> Authenticate(CredentialsPtr credentials) override {
    AuthenticationResult answer = co_await inner_->Authenticate(std::move(credentials));
    if (!answer || !*answer) co_return answer;
    meta::UserInfo& user = (*answer)->user;
    const bool said = std::any_of(user.groups.begin(), user.groups.end(), [](const std::string& group) {
      return group == "system:authenticated" || group == "system:unauthenticated";
    });
    if (!said && user.name != "system:anonymous") user.groups.push_back("system:authenticated");
    co_return answer;
  }

 private:
  std::unique_ptr<Authenticator> inner_;
};

template <class Part, class Question>
Task<AuthenticationResult> AskAgnostic(Part& inner, const std::vector<std::string>& api_audiences, Question question) {
  std::vector<std::string> audiences = IntersectAudiences(api_audiences, question->audiences);
  if (audiences.empty() && !question->audiences.empty()) co_return std::optional<Authenticated>();
  AuthenticationResult answer = co_await Ask(inner, std::move(question));
  if (answer && *answer) (*answer)->audiences = std::move(audiences);
  co_return answer;
}

class AudienceAgnostic final : public Authenticator {
 public:
  AudienceAgnostic(std::vector<std::string> api_audiences, std::unique_ptr<Authenticator> inner)
      : api_audiences_(std::move(api_audiences)), inner_(std::move(inner)) {}
  Task<AuthenticationResult> Authenticate(CredentialsPtr credentials) override {
    return AskAgnostic(*inner_, api_audiences_, std::move(credentials));
  }

 private:
  std::vector<std::string> api_audiences_;
  std::unique_ptr<Authenticator> inner_;
};

class AudienceAgnosticToken final : public TokenAuthenticator {
 public:
  AudienceAgnosticToken(std::vector<std::string> api_audiences, std::unique_ptr<TokenAuthenticator> inner)
      : api_audiences_(std::move(api_audiences)), inner_(std::move(inner)) {}
  Task<AuthenticationResult> AuthenticateToken(TokenQuestionPtr question) override {
    return AskAgnostic(*inner_, api_audiences_, std::move(question));
  }

 private:
  std::vector<std::string> api_audiences_;
  std::unique_ptr<TokenAuthenticator> inner_;
};

}  // namespace

std::unique_ptr<Authenticator> NewUnion(std::vector<std::unique_ptr<Authenticator>> parts, OnError on_error) {
  return std::make_unique<RequestUnion>(std::move(parts), on_error);
}

std::unique_ptr<TokenAuthenticator> NewTokenUnion(std::vector<std::unique_ptr<TokenAuthenticator>> parts,
                                                  OnError on_error) {
  return std::make_unique<TokenUnion>(std::move(parts), on_error);
}

std::unique_ptr<Authenticator> NewAuthenticatedGroupAdder(std::unique_ptr<Authenticator> inner) {
  return std::make_unique<AuthenticatedGroupAdder>(std::move(inner));
}

std::unique_ptr<Authenticator> NewAudienceAgnostic(std::vector<std::string> api_audiences,
                                                   std::unique_ptr<Authenticator> inner) {
  return std::make_unique<AudienceAgnostic>(std::move(api_audiences), std::move(inner));
}

std::unique_ptr<TokenAuthenticator> NewAudienceAgnosticToken(std::vector<std::string> api_audiences,
                                                             std::unique_ptr<TokenAuthenticator> inner) {
  return std::make_unique<AudienceAgnosticToken>(std::move(api_audiences), std::move(inner));
}

}  // namespace apimesh::authn_authz
