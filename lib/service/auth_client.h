#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lib/service/auth/authority.h"

namespace apimesh::service {

struct TokenIdentity {
  bool authenticated = false;
  meta::UserInfo user;
  std::vector<std::string> audiences;
  std::string error;
};
struct AccessQuestion {
  meta::UserInfo user;
  meta::RequestInfo info;  // `path` is used for non-resource requests
  std::vector<Requirement> fields, labels;
};
struct AccessDecision {
  bool allowed = false, denied = false;
  std::string reason, error;
};

/// The questions that group servers and admission plugins ask authn-authz. Calls return an error (500) if it cannot be
/// reached or does not answer within 10 s. Thread-safe.
class AuthClient {
 public:
  virtual ~AuthClient() = default;
  virtual Task<meta::Result<TokenIdentity>> ReviewToken(std::string token, std::vector<std::string> audiences,
                                                        SteadyTime deadline) = 0;
  virtual Task<meta::Result<AccessDecision>> Authorize(AccessQuestion question, SteadyTime deadline) = 0;
  virtual Task<meta::Result<AccessRules>> Rules(meta::UserInfo user, std::string ns, SteadyTime deadline) = 0;
};
using AuthClientPtr = std::shared_ptr<AuthClient>;
/// Creates a client that sends its questions to `authority`.
AuthClientPtr NewAuthClient(AuthorityPtr authority, const Clock& clock);

}  // namespace apimesh::service
