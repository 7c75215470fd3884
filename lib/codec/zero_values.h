#pragma once

#include "lib/meta/object.h"
#include "lib/schema/schema.h"

namespace apimesh::codec {

/// What Go's encoder writes for a field that nobody set: "", 0, false, {} or null.
meta::json::value ZeroValue(const schema::Node& node);
/// What omitempty leaves out.
bool IsEmpty(const meta::json::value& value, const schema::Node& node);
/// Sorts the keys of one object by bytes, as Go does for maps.
void SortKeys(meta::json::object& object);

}  // namespace apimesh::codec
