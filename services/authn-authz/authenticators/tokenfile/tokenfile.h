#pragma once

#include "services/authn-authz/authenticators/authenticator.h"

namespace apimesh::authn_authz {

/// The static token file: CSV lines of token, user name, uid and, optionally, a quoted list of groups. Read once, as in
/// the reference. `path` is only for error texts; they never show a token.
meta::Result<std::unique_ptr<TokenAuthenticator>> NewTokenFile(std::string_view csv, std::string_view path);

/// RFC 4180 records with Go's habits: empty lines skipped, fields may differ in number, "" inside quotes is a quote.
meta::Result<std::vector<std::vector<std::string>>> ParseCsv(std::string_view text);

}  // namespace apimesh::authn_authz
