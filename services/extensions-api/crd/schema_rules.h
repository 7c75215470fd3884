#pragma once

#include "lib/meta/field_error.h"
#include "lib/meta/object.h"

namespace apimesh::extensions_api {

/// The rules of an openAPIV3Schema inside of a CustomResourceDefinition, in the reference's words and order. `path` is where the schema
/// is: spec.validation.openAPIV3Schema or spec.versions[0].schema.openAPIV3Schema. `status`: the version has a status subresource.
/// Expressions of x-kubernetes-validations are only checked for their form.
meta::FieldErrors ValidateSchema(const meta::json::object& openapi, bool status, const meta::Path& path);

}  // namespace apimesh::extensions_api
