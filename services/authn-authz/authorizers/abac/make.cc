#include "services/authn-authz/authorizers/abac/make.h"

#include <stdexcept>

#include "services/authn-authz/authorizers/abac/abac.h"
#include "services/authn-authz/config/file.h"
#include "services/authn-authz/config/or_throw.h"

namespace apimesh::authn_authz {

std::unique_ptr<Authorizer> MakeAbac(const AuthorizerInputs& inputs) {
  const std::string& file = inputs.Get<AbacFlags>().policy_file;
  if (file.empty()) throw std::runtime_error("authorization-mode ABAC's authorization policy file not passed");
  return NewAbac(OrThrow(ParseAbacFile(OrThrow(ReadFile(file)), file)));
}

}  // namespace apimesh::authn_authz
