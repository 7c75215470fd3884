#include "lib/meta/request/node_identity.h"

#include <algorithm>
#include <string_view>

namespace apimesh::meta {

std::optional<std::string> NodeIdentity(const UserInfo& user) {
  constexpr std::string_view kPrefix = "system:node:";
  if (!std::string_view(user.name).starts_with(kPrefix)) return std::nullopt;
  if (std::find(user.groups.begin(), user.groups.end(), "system:nodes") == user.groups.end()) return std::nullopt;
  return user.name.substr(kPrefix.size());
}

}  // namespace apimesh::meta
