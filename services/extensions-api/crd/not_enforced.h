#pragma once

#include <string>
#include <vector>

#include "lib/meta/object.h"

namespace apimesh::extensions_api {

/// Warnings about the parts of a definition that are kept but have no effect: CEL rules and conversion webhooks.
std::vector<std::string> NotEnforcedParts(const meta::Object& crd);

}  // namespace apimesh::extensions_api
