#pragma once

#include "lib/cel/plan/step.h"
#include "lib/cel/syntax/ast.h"

namespace apimesh::cel {

struct Variable;
class TypeProvider;

struct Plan {
  StepPtr root;
  std::size_t locals = 0;  // how many a context must have
  std::string error;       // set instead of the rest if a constant can't be computed
};

/// Makes a program of a well-typed expression. Constants are computed and patterns compiled here. The program refers to
/// the tree and to `constants`, which holds what is computed. `types` may be null.
Plan MakePlan(const Ast& ast, std::span<const Variable> variables, const TypeProvider* types, Arena& constants);

}  // namespace apimesh::cel
