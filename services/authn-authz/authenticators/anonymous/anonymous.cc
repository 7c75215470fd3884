#include "services/authn-authz/authenticators/anonymous/anonymous.h"

namespace apimesh::authn_authz {
namespace {

class Anonymous final : public Authenticator {
 public:
  explicit Anonymous(std::vector<std::string> paths) : paths_(std::move(paths)) {}

  Task<AuthenticationResult> Authenticate(CredentialsPtr credentials) override {
    if (!paths_.empty() && std::find(paths_.begin(), paths_.end(), credentials->path) == paths_.end()) {
      co_return std::optional<Authenticated>();
    }
    Authenticated anonymous;
    anonymous.user.name = "system:anonymous";
    anonymous.user.groups = {"system:unauthenticated"};
    anonymous.for_this_path_only = !paths_.empty();
    anonymous.audiences = credentials->audiences;
    co_return std::optional(std::move(anonymous));
  }

 private:
  std::vector<std::string> paths_;
};

}  // namespace

std::unique_ptr<Authenticator> NewAnonymous(std::vector<std::string> paths) {
  return std::make_unique<Anonymous>(std::move(paths));
}

}  // namespace apimesh::authn_authz
