#pragma once

#include "lib/meta/errors/field_error.h"
#include "lib/meta/object.h"

namespace apimesh::extensions_api {

/// Every default of a structural schema must satisfy the schema it belongs to and have no fields that are unknown
/// there.
meta::FieldErrors ValidateDefaults(const meta::json::object& openapi, const meta::Path& path);

}  // namespace apimesh::extensions_api
