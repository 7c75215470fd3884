#pragma once

#include "lib/meta/object.h"
#include "lib/schema/schema.h"

namespace apimesh::schema {

/// Sets the constant defaults of the schema on what is unset, all the way down. Built-in kinds: on a document in normal form
/// (codec::Normalise), which it keeps; zero counts as unset where the field is no pointer. Custom resources: nulls of fields
/// that are not nullable are replaced too.
void ApplyDefaults(meta::json::object& document, const Node& node);

}  // namespace apimesh::schema
