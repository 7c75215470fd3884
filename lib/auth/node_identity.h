#pragma once

#include <optional>
#include <string>

#include "lib/meta/user.h"

namespace apimesh::auth {

/// The name of the node that a user stands for: the rest of a user name that begins with "system:node:", if the user is
/// a member of the group "system:nodes". nullopt: the user is not a node. An empty name: a node that cannot be told
/// apart, which must not be allowed anything.
std::optional<std::string> NodeIdentity(const meta::UserInfo& user);

}  // namespace apimesh::auth
