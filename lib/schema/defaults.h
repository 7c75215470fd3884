#pragma once

#include <boost/json/object.hpp>

#include "lib/schema/schema.h"

namespace apimesh::schema {

/// Sets the constant defaults of unset fields, recursively. For built-in kinds, fields keep the order of the schema,
/// zero counts as unset where the field is not a pointer, and a struct that the Go type holds by value is created if
/// one of its fields has a default. For custom resources, a null that is not allowed is replaced by the default, or
/// removed if there is none. A large default of list items multiplies, so defaults add at most kMaxDefaultBytes of JSON
/// text. Returns false if that limit was reached; some fields then have no default. The store refuses an object that
/// large.
inline constexpr std::size_t kMaxDefaultBytes = 3 << 19;
bool ApplyDefaults(boost::json::object& object, const Node& node);

}  // namespace apimesh::schema
