// Links: services/authn-authz/config/authentication_config.cc services/authn-authz/config/authorization_config.cc
// Links: services/authn-authz/config/expressions.cc services/authn-authz/config/file.cc
// Links: services/authn-authz/config/issuer_config.cc services/authn-authz/config/join_errors.cc
// Links: services/authn-authz/config/kubeconfig.cc services/authn-authz/config/strict.cc
// Links: services/authn-authz/config/yaml.cc
// Links: auth cel yaml-cpp
// These files are an operator's, but bad ones must give errors, not a crash.
#include "services/authn-authz/config/authentication_config.h"
#include "services/authn-authz/config/authorization_config.h"
#include "services/authn-authz/config/kubeconfig.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace apimesh::authn_authz;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)ParseAuthenticationConfig(text, {});
  (void)ParseAuthorizationConfig(text);
  (void)ParseKubeconfig(text, "/nowhere");
  return 0;
}
