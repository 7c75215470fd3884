#pragma once

#include "lib/meta/errors/field_error.h"
#include "lib/meta/object.h"
#include "lib/schema/schema.h"

/// Compiles the openAPIV3Schema of a CRD to the schema that all generic code uses.
namespace apimesh::schema {

/// Returns the violations of the rules for structural schemas, with kube-apiserver's texts, sorted. `path` is the path
/// of the schema: spec.versions[0].schema.openAPIV3Schema.
meta::FieldErrors CheckStructural(const meta::json::object& openapi, const meta::Path& path);

/// Adds the nodes of a structural schema to `schema`, which the caller must seal. The root has kind, apiVersion and
/// metadata, even if the OpenAPI schema does not specify them or specifies them differently.
Node* CompileOpenApi(const meta::json::object& openapi, Schema& schema);

}  // namespace apimesh::schema
