#pragma once

#include "lib/meta/errors/field_error.h"
#include "lib/meta/object.h"
#include "lib/registry/resource.h"

namespace apimesh::extensions_api {

/// Checks the fields of a custom resource that its scale subresource shows, with kube-apiserver's messages.
void CheckScaleSpec(const meta::json::object& root, const registry::ScalePaths& paths, meta::FieldErrors& errors);
void CheckScaleStatus(const meta::json::object& root, const registry::ScalePaths& paths, meta::FieldErrors& errors);

}  // namespace apimesh::extensions_api
