#pragma once

#include "lib/cel/syntax/ast.h"
#include "lib/cel/syntax/lexer.h"
#include "lib/cel/syntax/problems.h"

namespace apimesh::cel {

// Make the node of a literal; one that has no value is reported and gives an invalid node.
Node* NumberLiteral(Ast& ast, const Token& token, std::string_view sign, std::int32_t position, Problems& problems);
Node* TextLiteral(Ast& ast, const Token& token, Problems& problems);

}  // namespace apimesh::cel
