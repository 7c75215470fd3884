#pragma once

#include "lib/registry/resource.h"

/// Columns that nearly every Table has.
namespace apimesh::core_api {

registry::Column NameColumn();
registry::Column AgeColumn();
/// The cell of AgeColumn(): "5d", "<unknown>".
meta::json::value AgeCell(const meta::Object& object, WallTime now);

}  // namespace apimesh::core_api
