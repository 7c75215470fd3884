#pragma once

#include "services/authn-authz/authorizers/inputs.h"

namespace apimesh::authn_authz {

/// Builds the chain: system:masters first, then the authorizers of `configs` in their order. Throws std::runtime_error
/// if the options are invalid.
std::unique_ptr<Authorizer> BuildAuthorizerChain(const std::vector<AuthorizerConfig>& configs,
                                                 const AuthorizationOptions& options, const AuthorizationState& state,
                                                 const Clock& clock, service::Metrics& metrics);

/// Binds the options of every authorizer, which are kept in `options`.
void BindAuthorizers(flags::OptionSet& options, flags::Binder& flags);

bool HasMode(const std::vector<AuthorizerConfig>& configs, std::string_view mode);

}  // namespace apimesh::authn_authz
