#pragma once

#include <string_view>

#include "lib/meta/object.h"

namespace apimesh::registry {

/// Sets a field of `object` to its value in `old`, or removes it if `old` does not have it.
void KeepField(std::string_view field, meta::json::object& object, const meta::json::object& old);

}  // namespace apimesh::registry
