#pragma once

#include "lib/admission/objects/objects.h"

namespace apimesh::admission::owner_references {

/// The resource of a kind.
struct OwnerResource {
  meta::Gvr resource;
  bool namespaced = true;
};

/// Finds the resource of a built-in kind or of one that a CustomResourceDefinition defines. Returns an error with the
/// message of kube-apiserver for other kinds.
Task<meta::Result<OwnerResource>> FindResource(meta::RequestContext ctx, ObjectsPtr objects, std::string api_version,
                                               std::string kind);

}  // namespace apimesh::admission::owner_references
