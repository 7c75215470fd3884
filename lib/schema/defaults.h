#pragma once

#include <boost/json/object.hpp>

#include "lib/schema/schema.h"

namespace apimesh::schema {

/// Sets the constant defaults of what is unset, all the way down, and keeps the order of the schema. Built-in kinds: zero counts as
/// unset where the field is no pointer, and a struct that the Go type holds by value is made where one of its fields has a default.
/// Custom resources: a null where none is allowed is replaced, or removed if there is no default.
/// A large default of a list's items multiplies: defaults add at most kMaxDefaultBytes of JSON text. False if that was not
/// enough; then some fields have no default. No store takes an object that large.
inline constexpr std::size_t kMaxDefaultBytes = 3 << 19;
bool ApplyDefaults(boost::json::object& object, const Node& node);

}  // namespace apimesh::schema
