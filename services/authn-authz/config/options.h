#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/features/feature_gates.h"
#include "lib/flags/option_set.h"
#include "lib/meta/errors/api_error.h"
#include "lib/service/flags.h"

namespace apimesh::authn_authz {

/// The authentication options that several authenticators use, and those of each authenticator.
struct AuthenticationOptions {
  bool anonymous_auth;
  bool anonymous_auth_given = false;
  std::vector<std::string> api_audiences;
  std::string authentication_config;
  std::string client_ca_file;
  std::vector<std::string> service_account_issuers;
  features::FeatureGates features;  // set by the server
  flags::OptionSet extensions;      // of each authenticator, declared in its folder; authenticators/chain.cc binds them

  AuthenticationOptions() { flags::ApplyDefaults(*this); }
  void Bind(flags::Binder& flags);
};

/// The same for authorization.
struct AuthorizationOptions {
  std::vector<std::string> modes;
  bool modes_given = false;
  std::string config_file;
  features::FeatureGates features;  // set by the server
  flags::OptionSet extensions;      // of each authorizer, declared in its folder; authorizers/chain.cc binds them

  AuthorizationOptions() { flags::ApplyDefaults(*this); }
  void Bind(flags::Binder& flags);
};

struct Options {
  AuthenticationOptions authentication;
  AuthorizationOptions authorization;
  service::CommonFlags common;
  std::vector<std::string> core_api;  // "unix:/path" or "host:port"; only the first one is used

  void Bind(flags::Binder& flags);
};

/// Disables anonymous authentication if the flags select the authorizer AlwaysAllow, as kube-apiserver does, because
/// otherwise every client could do everything. Returns whether it was disabled. An AuthorizationConfiguration and the
/// anonymous section of an AuthenticationConfiguration are explicit decisions of the operator and are not changed, also
/// as in kube-apiserver.
bool ResetAnonymousAuth(Options& options);

/// Parses the command line. A returned value is the exit code with which the process should end (0 after --help, 1
/// after an error, which has been printed).
std::optional<int> ParseCommandLine(int argc, char** argv, Options& options);

}  // namespace apimesh::authn_authz
