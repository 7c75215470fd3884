#pragma once

#include <optional>
#include <string>

#include "lib/meta/request/user.h"

namespace apimesh::meta {

/// Returns the name of the node that `user` represents: the part of the user name after "system:node:", if the user is
/// a member of the group "system:nodes". Returns nullopt if the user is not a node. An empty name means a node that
/// cannot be identified; such a user must not be granted any node permission.
std::optional<std::string> NodeIdentity(const UserInfo& user);

}  // namespace apimesh::meta
