#include "services/extensions-api/flags.h"

#include <CLI/CLI.hpp>

namespace apimesh::extensions_api {

void Flags::AddTo(CLI::App& app) {
  common.AddTo(app);
  etcd.AddTo(app);
  const auto list = [&app](const char* name, std::vector<std::string>& values, const char* help) {
    app.add_option(name, values, help)->delimiter(',')->allow_extra_args(false);
  };
  app.add_option("--core-api", core_api, "address of core-api: unix:/path or host:port");
  app.add_option("--authn-authz", authn_authz, "address of authn-authz: unix:/path or host:port");
  app.add_option("--min-request-timeout", min_request_timeout, "seconds that a watch stays open at least")->capture_default_str();
  list("--enable-admission-plugins", enable_admission_plugins, "plugins to add to the default set");
  list("--disable-admission-plugins", disable_admission_plugins, "plugins to leave out of the default set");
  list("--admission-control", admission_control, "exactly these plugins (deprecated)");
}

}  // namespace apimesh::extensions_api
