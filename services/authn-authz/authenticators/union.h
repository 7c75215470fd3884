#pragma once

#include "services/authn-authz/authenticators/authenticator.h"

namespace apimesh::authn_authz {

/// What happens when one of several authenticators returns an error.
enum class OnError { kTryTheRest, kStop };

/// Calls each authenticator in order until one returns a user. If none does, the result is an error with all error
/// texts, joined as in kube-apiserver, or nullopt if there were no errors.
std::unique_ptr<Authenticator> NewUnion(std::vector<std::unique_ptr<Authenticator>> parts, OnError on_error);
std::unique_ptr<TokenAuthenticator> NewTokenUnion(std::vector<std::unique_ptr<TokenAuthenticator>> parts,
                                                  OnError on_error);

/// Adds the group system:authenticated to the users of `inner`, except for system:anonymous and users that are in
/// system:authenticated or system:unauthenticated.
std::unique_ptr<Authenticator> NewAuthenticatedGroupAdder(std::unique_ptr<Authenticator> inner);

/// For authenticators that do not support audiences: their users are valid only for `api_audiences`.
std::unique_ptr<Authenticator> NewAudienceAgnostic(std::vector<std::string> api_audiences,
                                                   std::unique_ptr<Authenticator> inner);
std::unique_ptr<TokenAuthenticator> NewAudienceAgnosticToken(std::vector<std::string> api_audiences,
                                                             std::unique_ptr<TokenAuthenticator> inner);

}  // namespace apimesh::authn_authz
