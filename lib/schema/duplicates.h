#pragma once

#include "lib/meta/errors/field_error.h"
#include "lib/meta/errors/path_chain.h"
#include "lib/meta/object.h"
#include "lib/schema/schema.h"

namespace apimesh::schema {

/// Reports duplicate items in sets and list maps of a custom resource, at any depth below `value`, with one error per
/// duplicate.
void CheckDuplicates(const meta::json::value& value, const Node& node, const meta::PathChain& path,
                     meta::FieldErrors& errors);
/// The same for all fields of a custom resource.
meta::FieldErrors FindDuplicates(const meta::json::object& resource, const Node& node);

}  // namespace apimesh::schema
