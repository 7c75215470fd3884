#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/async/task.h"
#include "lib/base/clock.h"
#include "lib/meta/errors/api_error.h"
#include "lib/meta/request/user.h"

namespace apimesh::authn_authz {

/// The parts of a request that may identify its sender. Shared by all authenticators of one request; never logged.
struct Credentials {
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case, in the order of the request
  std::vector<std::string> peer_certificates;                // DER, leaf first, not yet verified
  std::string path;
  std::vector<std::string> audiences;  // audiences that the credential must be valid for; empty: this API server
  /// Returns the first value of a header, or "" if it is absent.
  std::string_view Header(std::string_view name) const;
};
using CredentialsPtr = std::shared_ptr<const Credentials>;

struct Authenticated {
  meta::UserInfo user;
  std::vector<std::string> audiences;  // requested audiences that the credential is valid for
  WallTime expires = WallTime::max();  // expiry of the credential
  bool for_this_path_only = false;
};
/// The result of an authenticator. A user: the credential is valid. nullopt: the request has no credential of this
/// kind, and the next authenticator is tried. Error: the credential is of this kind but invalid; OnError decides
/// whether the next authenticator is tried. The error text is for logs and never contains a credential.
using AuthenticationResult = meta::Result<std::optional<Authenticated>>;

/// Thread-safe.
class Authenticator {
 public:
  virtual ~Authenticator() = default;
  virtual Task<AuthenticationResult> Authenticate(CredentialsPtr credentials) = 0;
};

struct TokenQuestion {
  std::string token;
  std::vector<std::string> audiences;  // empty only if the server has no audiences
};
using TokenQuestionPtr = std::shared_ptr<const TokenQuestion>;

/// Authenticates one kind of bearer token. Thread-safe.
class TokenAuthenticator {
 public:
  virtual ~TokenAuthenticator() = default;
  virtual Task<AuthenticationResult> AuthenticateToken(TokenQuestionPtr question) = 0;
};

/// Returns the elements of `wanted` that are in `have`.
std::vector<std::string> IntersectAudiences(const std::vector<std::string>& have,
                                            const std::vector<std::string>& wanted);
/// Creates the error for an invalid credential.
meta::ApiError BadCredential(std::string_view reason);

}  // namespace apimesh::authn_authz
