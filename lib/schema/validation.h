#pragma once

#include "lib/meta/field_error.h"
#include "lib/meta/object.h"
#include "lib/schema/schema.h"

namespace apimesh::schema {

/// Checks a custom resource by the OpenAPI vocabulary of its schema, then sets and maps for duplicates: the reference's texts, in
/// the order of the schema. Built-in kinds are not checked this way: their enums and required fields are rules of their kinds.
meta::FieldErrors ValidateCustomResource(const meta::json::object& resource, const Node& node);

}  // namespace apimesh::schema
