#pragma once

#include <string>
#include <vector>

#include "lib/meta/object.h"
#include "lib/schema/schema.h"

namespace apimesh::schema {

/// Removes the fields of a custom resource that its schema does not specify. kind, apiVersion and metadata stay, at the
/// root and in embedded resources. Returns the paths of the removed fields, sorted ("spec.foo[0].bar"), up to a limit.
std::vector<std::string> Prune(meta::json::object& resource, const Node& node);

}  // namespace apimesh::schema
