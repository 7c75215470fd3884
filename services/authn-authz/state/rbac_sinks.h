#pragma once

#include <functional>
#include <memory>

#include "lib/mesh/watch/object_sink.h"
#include "services/authn-authz/authorizers/rbac/rbac_index.h"

namespace apimesh::authn_authz {

/// Creates a sink that adds Roles (with `cluster`: ClusterRoles) to `index`. `changed` runs after each change that can
/// affect a decision.
std::unique_ptr<mesh::ObjectSink> NewRoleSink(std::shared_ptr<RbacIndex> index, bool cluster,
                                              std::function<void()> changed);
std::unique_ptr<mesh::ObjectSink> NewBindingSink(std::shared_ptr<RbacIndex> index, bool cluster,
                                                 std::function<void()> changed);

}  // namespace apimesh::authn_authz
