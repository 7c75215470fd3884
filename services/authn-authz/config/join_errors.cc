#include "services/authn-authz/config/join_errors.h"

namespace apimesh::authn_authz {

std::string JoinErrors(const std::vector<std::string>& errors) {
  std::vector<std::string> distinct;
  for (const std::string& error : errors) {
    if (std::find(distinct.begin(), distinct.end(), error) == distinct.end()) distinct.push_back(error);
  }
  return distinct.size() == 1 ? distinct.front() : fmt::format("[{}]", fmt::join(distinct, ", "));
}

}  // namespace apimesh::authn_authz
