#pragma once

#include <boost/json/object.hpp>

#include "lib/schema/schema.h"

namespace apimesh::schema {

/// Sets the constant defaults of fields that are absent. A struct that the Go type holds by value is made where one of its
/// own fields has a default; behind a pointer, in a list or in a map, only what is there gets defaults.
void ApplyDefaults(boost::json::object& object, const Node& node);

}  // namespace apimesh::schema
