#pragma once

#include <optional>
#include <string>

#include "lib/meta/object.h"

namespace apimesh::extensions_api {

/// Checks the fieldPath of a rule, such as ".spec.labels['a.b']", against the schema that the rule belongs to. Returns
/// the path as errors show it, "spec.labels[a.b]", or nothing if it does not lead to a field.
std::optional<std::string> NormalizeFieldPath(std::string_view path, const meta::json::object& schema);

}  // namespace apimesh::extensions_api
