#pragma once

#include "lib/cel/ast.h"
#include "lib/cel/lexer.h"

namespace apimesh::cel {

/// Null if there is a problem. Nesting is limited, so that no text can exhaust the stack.
NodePtr Parse(std::string_view source, std::optional<Problem>& problem);

}  // namespace apimesh::cel
