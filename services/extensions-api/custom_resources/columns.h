#pragma once

#include "lib/registry/resource.h"

namespace apimesh::extensions_api {

/// Returns the columns Name and the additionalPrinterColumns of a version (nullptr or empty: Age).
registry::TablePrinter PrinterOf(const meta::json::value* additional_columns);

}  // namespace apimesh::extensions_api
