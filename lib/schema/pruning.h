#pragma once

#include <string>
#include <vector>

#include "lib/meta/object.h"
#include "lib/schema/schema.h"

namespace apimesh::schema {

/// Removes the fields of a custom resource that its schema does not know; kind, apiVersion and metadata stay, at the root and
/// in embedded resources. Gives the paths of what is gone, sorted ("spec.foo[0].bar").
std::vector<std::string> Prune(meta::json::object& resource, const Node& node);

}  // namespace apimesh::schema
