#pragma once

#include <string>
#include <vector>

#include "lib/meta/object.h"

namespace apimesh::extensions_api {

/// Returns a warning for each format in the schemas of a definition that is not enforced because it is unknown. Formats
/// that the old definition already has are not reported; `old` is nullptr for a new definition.
std::vector<std::string> FormatWarnings(const meta::Object& crd, const meta::Object* old);

}  // namespace apimesh::extensions_api
