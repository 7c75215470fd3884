#pragma once

#include "lib/registry/resource.h"

namespace apimesh::registry {

/// Returns the printer of kinds that define no columns: Name and Created At.
TablePrinter DefaultTable();

}  // namespace apimesh::registry
