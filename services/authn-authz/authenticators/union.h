#pragma once

#include "services/authn-authz/authenticators/authenticator.h"

namespace apimesh::authn_authz {

/// What happens when one of several says "mine, but bad".
enum class OnError { kTryTheRest, kStop };

/// Asks each in turn until one recognises the request. If none does, the errors met on the way are the answer, joined as
/// the reference joins them; without errors it is "not mine".
std::unique_ptr<Authenticator> NewUnion(std::vector<std::unique_ptr<Authenticator>> parts, OnError on_error);
std::unique_ptr<TokenAuthenticator> NewTokenUnion(std::vector<std::unique_ptr<TokenAuthenticator>> parts, OnError on_error);

/// Adds system:authenticated to whoever `inner` recognises, unless it is system:anonymous or has said so already.
std::unique_ptr<Authenticator> NewAuthenticatedGroupAdder(std::unique_ptr<Authenticator> inner);

/// For authenticators that know nothing of audiences: their users are good for `api_audiences` and no others.
std::unique_ptr<Authenticator> NewAudienceAgnostic(std::vector<std::string> api_audiences, std::unique_ptr<Authenticator> inner);
std::unique_ptr<TokenAuthenticator> NewAudienceAgnosticToken(std::vector<std::string> api_audiences,
                                                             std::unique_ptr<TokenAuthenticator> inner);

}  // namespace apimesh::authn_authz
