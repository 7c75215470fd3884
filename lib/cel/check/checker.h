#pragma once

#include "lib/cel/check/declarations.h"
#include "lib/cel/syntax/ast.h"
#include "lib/cel/syntax/problems.h"

namespace apimesh::cel {

/// Finds the type of every node and the overloads of every call. `types` may be null.
void Check(Ast& ast, const Declarations& declarations, std::span<const Variable> variables, const TypeProvider* types,
           Problems& problems);

/// Checks literals of a well-typed expression: durations, timestamps, patterns, format strings, and that the elements
/// of lists and maps have one type.
void Validate(const Ast& ast, const Declarations& declarations, Problems& problems);

}  // namespace apimesh::cel
