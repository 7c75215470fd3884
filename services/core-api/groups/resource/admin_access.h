#pragma once

#include "lib/registry/resource.h"
#include "lib/storage/store.h"

namespace apimesh::core_api {

/// Returns checks that refuse a claim or a template that requests admin access to devices, unless its namespace has the
/// label resource.kubernetes.io/admin-access: "true". `namespaces` is the store of namespaces.
std::shared_ptr<registry::WriteChecks> MakeAdminAccessCheck(meta::Gvk kind, storage::StorePtr namespaces);

/// Returns the path of the first device in status.allocation with admin access, or "".
std::string GrantedAdminAccess(const meta::Object& claim);
/// Returns an error at `path` unless the namespace of the request has the label.
Task<meta::FieldErrors> CheckAdminNamespace(meta::RequestContext ctx, storage::StorePtr namespaces, std::string path);

}  // namespace apimesh::core_api
