#include "services/authn-authz/authenticators/authenticator.h"

namespace apimesh::authn_authz {

std::string_view Credentials::Header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (key == name) return value;
  }
  return {};
}

std::vector<std::string> IntersectAudiences(const std::vector<std::string>& have,
                                            const std::vector<std::string>& wanted) {
  std::vector<std::string> both;
  for (const std::string& audience : wanted) {
    if (std::find(have.begin(), have.end(), audience) != have.end()) both.push_back(audience);
  }
  return both;
}

meta::ApiError BadCredential(std::string_view reason) { return meta::Unauthorized(reason); }

}  // namespace apimesh::authn_authz
