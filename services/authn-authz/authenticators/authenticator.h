#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/clock.h"
#include "lib/base/task.h"
#include "lib/meta/api_error.h"
#include "lib/meta/user.h"

namespace apimesh::authn_authz {

/// What a request carries that may say who sent it. Shared by all authenticators of one request; never logged.
struct Credentials {
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case, in the order they came
  std::vector<std::string> peer_certificates;                // DER, leaf first, not yet verified
  std::string path;
  std::vector<std::string> audiences;  // whom the credential must be meant for; empty: this API server
  /// The first value of a header, "" if absent.
  std::string_view Header(std::string_view name) const;
};
using CredentialsPtr = std::shared_ptr<const Credentials>;

struct Authenticated {
  meta::UserInfo user;
  std::vector<std::string> audiences;    // those asked for that the credential is good for
  WallTime expires = WallTime::max();    // the credential's own end
  bool for_this_path_only = false;
};
/// A user: recognised. nullopt: not my kind of credential, try the next one. Error: mine, but bad; chain.cc decides
/// whether to go on. An error's text is for logs and never holds a credential.
using Answer = meta::Result<std::optional<Authenticated>>;

/// Thread-safe.
class Authenticator {
 public:
  virtual ~Authenticator() = default;
  virtual Task<Answer> Authenticate(CredentialsPtr credentials) = 0;
};

struct TokenQuestion {
  std::string token;
  std::vector<std::string> audiences;  // never empty unless the server has no audiences at all
};
using TokenQuestionPtr = std::shared_ptr<const TokenQuestion>;

/// Knows one kind of bearer token. Thread-safe.
class TokenAuthenticator {
 public:
  virtual ~TokenAuthenticator() = default;
  virtual Task<Answer> AuthenticateToken(TokenQuestionPtr question) = 0;
};

/// The elements of `wanted` that are in `have`.
std::vector<std::string> IntersectAudiences(const std::vector<std::string>& have, const std::vector<std::string>& wanted);
/// A refusal with its reason.
meta::ApiError BadCredential(std::string_view reason);

}  // namespace apimesh::authn_authz
