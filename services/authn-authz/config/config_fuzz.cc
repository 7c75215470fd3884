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
