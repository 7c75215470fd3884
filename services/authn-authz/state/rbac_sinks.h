#pragma once

#include <functional>
#include <memory>

#include "services/authn-authz/authorizers/rbac/rbac_index.h"
#include "services/authn-authz/state/object_sink.h"

namespace apimesh::authn_authz {

/// Roles, or with `cluster` ClusterRoles, into `index`. `changed` runs after each change that matters to a decision.
std::unique_ptr<ObjectSink> NewRoleSink(std::shared_ptr<RbacIndex> index, bool cluster, std::function<void()> changed);
std::unique_ptr<ObjectSink> NewBindingSink(std::shared_ptr<RbacIndex> index, bool cluster, std::function<void()> changed);

}  // namespace apimesh::authn_authz
