// Links: services/authn-authz/config/authentication_config.cc services/authn-authz/config/authorization_config.cc
// Links: services/authn-authz/config/expressions.cc services/authn-authz/config/file.cc
// Links: services/authn-authz/config/issuer_config.cc services/authn-authz/config/join_errors.cc
// Links: lib/service/webhook/kubeconfig.cc services/authn-authz/config/options.cc
// Links: services/authn-authz/config/strict.cc services/authn-authz/config/yaml.cc credentials cel flags codec
// These files belong to an operator, but an invalid one must cause errors and not a crash.
#include "lib/service/webhook/kubeconfig.h"
#include "services/authn-authz/config/authentication_config.h"
#include "services/authn-authz/config/authorization_config.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace apimesh::authn_authz;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)ParseAuthenticationConfig(text, {});
  (void)ParseAuthorizationConfig(text);
  (void)apimesh::service::ParseKubeconfig(text, "/nowhere");
  return 0;
}
