#pragma once

#include "lib/cel/syntax/ast.h"
#include "lib/cel/syntax/macros.h"
#include "lib/cel/syntax/problems.h"

namespace apimesh::cel {

/// Parses an expression. After a syntax error, `problems` is not empty and the tree must not be used. Length and
/// nesting are limited, so that no text can exhaust the stack.
Ast Parse(std::string_view source, const MacroSet& macros, Problems& problems);

}  // namespace apimesh::cel
