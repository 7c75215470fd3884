#include "services/authn-authz/authenticators/serviceaccount/verification_keys.h"

namespace apimesh::authn_authz {
namespace {

class KeysOfFiles final : public VerificationKeys {
 public:
  explicit KeysOfFiles(std::vector<credentials::PublicKey> keys) : keys_(std::move(keys)) {}

  Task<std::vector<credentials::PublicKey>> Find(std::string id) override {
    std::vector<credentials::PublicKey> found;
    for (const credentials::PublicKey& key : keys_) {
      if (id.empty() || key.KeyId() == id) found.push_back(key);
    }
    co_return found;
  }

 private:
  const std::vector<credentials::PublicKey> keys_;
};

class KeysOfSigner final : public VerificationKeys {
 public:
  explicit KeysOfSigner(std::shared_ptr<externaljwt::Signer> signer) : signer_(std::move(signer)) {}

  Task<std::vector<credentials::PublicKey>> Find(std::string id) override {
    const std::vector<externaljwt::Key> keys = co_await signer_->Keys().Find(std::move(id));
    std::vector<credentials::PublicKey> found;
    for (const externaljwt::Key& key : keys) found.push_back(key.key);
    co_return found;
  }

 private:
  const std::shared_ptr<externaljwt::Signer> signer_;
};

}  // namespace

std::shared_ptr<VerificationKeys> StaticKeys(std::vector<credentials::PublicKey> keys) {
  return std::make_shared<KeysOfFiles>(std::move(keys));
}

std::shared_ptr<VerificationKeys> ExternalKeys(std::shared_ptr<externaljwt::Signer> signer) {
  return std::make_shared<KeysOfSigner>(std::move(signer));
}

}  // namespace apimesh::authn_authz
