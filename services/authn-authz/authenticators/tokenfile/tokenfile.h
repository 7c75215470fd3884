#pragma once

#include "services/authn-authz/authenticators/authenticator.h"
#include "services/authn-authz/authenticators/inputs.h"
#include "services/authn-authz/authenticators/tokenfile/flags.h"

namespace apimesh::authn_authz {

/// Authenticates tokens of a static file: CSV lines of token, user name, uid and, optionally, a quoted list of groups.
/// As in kube-apiserver, the file is read only once. `path` is used in error texts, which never contain a token.
meta::Result<std::unique_ptr<TokenAuthenticator>> NewTokenFile(std::string_view csv, std::string_view path);

/// Parses RFC 4180 records like encoding/csv of Go: empty lines are skipped, records may differ in their number of
/// fields, and "" within quotes is a quote.
meta::Result<std::vector<std::vector<std::string>>> ParseCsv(std::string_view text);

/// Factory for chain.cc: the file of --token-auth-file.
std::unique_ptr<TokenAuthenticator> MakeTokenFile(const AuthenticatorInputs& inputs);

}  // namespace apimesh::authn_authz
