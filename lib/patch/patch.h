#pragma once

#include <string_view>

#include "lib/meta/api_error.h"
#include "lib/meta/object.h"
#include "lib/schema/schema.h"

/// The patch types of the API, as functions from documents to documents. Nothing here suspends or knows a kind.
namespace apimesh::patch {

/// RFC 6902. At most 10,000 operations; the bytes that "copy" may add are limited. 422/400 texts of the reference.
meta::Result<> ApplyJsonPatch(meta::json::value& document, const meta::json::value& patch);

/// RFC 7386.
void ApplyMergePatch(meta::json::value& document, const meta::json::value& patch);

/// Strategic merge patch by the schema's patch strategies, with every directive ($patch, $setElementOrder, $retainKeys,
/// $deleteFromPrimitiveList).
meta::Result<> ApplyStrategicMergePatch(meta::json::object& document, const meta::json::object& patch,
                                        const schema::Node& node);

}  // namespace apimesh::patch
