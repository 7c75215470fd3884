#pragma once

#include <string_view>

#include "lib/meta/object.h"

namespace apimesh::codec {

/// What an untagged plain scalar means in YAML 1.1, as Go's yaml.v2 reads it: null, bool (yes, on, …), number or string.
meta::json::value ResolveYamlScalar(std::string_view text, meta::json::storage_ptr arena);

}  // namespace apimesh::codec
