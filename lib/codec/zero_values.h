#pragma once

#include "lib/meta/object.h"
#include "lib/schema/schema.h"

namespace apimesh::codec {

/// Returns the value that Go's encoder writes for an unset field: "", 0, false, {} or null.
meta::json::value ZeroValue(const schema::Node& node);
/// Returns whether Go's omitempty omits the value.
bool IsEmpty(const meta::json::value& value, const schema::Node& node);
/// Sorts the keys of one object by their bytes, as Go does for maps.
void SortKeys(meta::json::object& object);

}  // namespace apimesh::codec
