#pragma once

#include "lib/meta/field_error.h"
#include "lib/meta/object.h"
#include "lib/schema/schema.h"

/// From a CRD's openAPIV3Schema to the schema that everything generic works from.
namespace apimesh::schema {

/// What keeps a schema from being structural, in the reference's words, sorted. `path` is where the schema is:
/// spec.versions[0].schema.openAPIV3Schema.
meta::FieldErrors CheckStructural(const meta::json::object& openapi, const meta::Path& path);

/// Adds the nodes of a structural schema to `schema`, which the caller seals. The root has kind, apiVersion and metadata, whatever
/// the schema says of them.
Node* CompileOpenApi(const meta::json::object& openapi, Schema& schema);

}  // namespace apimesh::schema
