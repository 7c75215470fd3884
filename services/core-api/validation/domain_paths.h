#pragma once

#include "services/core-api/validation/check.h"

namespace apimesh::core_api {

/// Checks that a field is a domain name, a slash and a path, such as "example.com/controller". An empty text is
/// reported as missing.
void ValidateDomainPrefixedPath(const Check& holder, std::string_view field);

}  // namespace apimesh::core_api
