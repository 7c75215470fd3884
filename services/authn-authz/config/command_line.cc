#include "lib/service/command_line.h"

#include <cstdio>

#include "services/authn-authz/authenticators/chain.h"
#include "services/authn-authz/authorizers/chain.h"
#include "services/authn-authz/authorizers/webhook/flags.h"
#include "services/authn-authz/config/options.h"

namespace apimesh::authn_authz {

void Options::Bind(flags::Binder& flags) {
  common.Bind(flags);
  authentication.Bind(flags);
  BindAuthenticators(authentication.extensions, flags);
  authorization.Bind(flags);
  BindAuthorizers(authorization.extensions, flags);
  flags.Bind("core-api", core_api);
  for (const char* name : {"listen", "core-api"}) flags.Require(name);
}

std::optional<int> ParseCommandLine(int argc, char** argv, Options& options) {
  service::CommandLine command_line("authn-authz",
                                    "authn-authz: authenticates and authorizes the requests of an apimesh");
  options.Bind(command_line);
  if (const std::optional<int> code = command_line.Parse(argc, argv)) return code;
  const AuthorizationOptions& authorization = options.authorization;
  const bool by_flags =
      authorization.modes_given || authorization.extensions.Get<AuthorizationWebhookFlags>().any_given;
  if (!authorization.config_file.empty() && by_flags) {
    std::fputs(
        "--authorization-config can not be specified when --authorization-mode or --authorization-webhook-* flags are "
        "defined\n",
        stderr);
    return 1;
  }
  return std::nullopt;
}

}  // namespace apimesh::authn_authz
