#pragma once

#include <span>

#include "lib/cel/value/value.h"

namespace apimesh::cel {

// The operators on all types that have them; other types are "no such overload".
Value AddValues(std::span<const Value> args, Arena& arena);
Value SubtractValues(std::span<const Value> args, Arena& arena);
Value MultiplyValues(std::span<const Value> args, Arena& arena);
Value DivideValues(std::span<const Value> args, Arena& arena);
Value ModuloValues(std::span<const Value> args, Arena& arena);
Value NegateValue(std::span<const Value> args, Arena& arena);

/// The error of an operator whose first argument does not support it.
Value Unsupported(const Value& value, std::string_view function, Arena& arena);

}  // namespace apimesh::cel
