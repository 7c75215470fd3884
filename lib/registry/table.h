#pragma once

#include "lib/registry/resource.h"

namespace apimesh::registry {

/// Name and Created At: what a kind without columns of its own shows.
TablePrinter DefaultTable();

}  // namespace apimesh::registry
