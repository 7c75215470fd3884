#include <stdexcept>

#include "services/authn-authz/authenticators/serviceaccount/serviceaccount.h"
#include "services/authn-authz/config/file.h"
#include "services/authn-authz/config/or_throw.h"

namespace apimesh::authn_authz {
namespace {

ServiceAccountOptions OptionsOf(const AuthenticatorInputs& inputs) {
  const ServiceAccountFlags& flags = inputs.Get<ServiceAccountFlags>();
  ServiceAccountOptions options{{}, inputs.options.service_account_issuers, inputs.audiences, flags.lookup};
  if (inputs.token_signer) {
    options.keys = ExternalKeys(inputs.token_signer);
    return options;
  }
  std::vector<credentials::PublicKey> keys;
  for (const std::string& file : flags.VerifyingKeyFiles()) {
    // It may be a private key.
    const SecretBytes pem = OrThrow(ReadSecretFile(file), "service-account-key-file");
    auto found = credentials::PublicKey::FromPem(pem);
    if (!found) throw std::runtime_error(fmt::format("--service-account-key-file: {} holds no RSA or ECDSA key", file));
    keys.insert(keys.end(), found->begin(), found->end());
  }
  if (!keys.empty()) options.keys = StaticKeys(std::move(keys));
  return options;
}

}  // namespace

std::unique_ptr<TokenAuthenticator> MakeLegacyServiceAccount(const AuthenticatorInputs& inputs) {
  ServiceAccountOptions options = OptionsOf(inputs);
  return !options.keys ? nullptr : NewLegacyServiceAccount(std::move(options), inputs.objects);
}

std::unique_ptr<TokenAuthenticator> MakeBoundServiceAccount(const AuthenticatorInputs& inputs) {
  ServiceAccountOptions options = OptionsOf(inputs);
  if (!options.keys || options.issuers.empty()) return nullptr;
  return NewBoundServiceAccount(std::move(options), inputs.objects, inputs.clock);
}

}  // namespace apimesh::authn_authz
