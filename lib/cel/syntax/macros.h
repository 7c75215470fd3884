#pragma once

#include <optional>

#include "lib/cel/syntax/ast.h"
#include "lib/cel/syntax/problems.h"

namespace apimesh::cel {

/// The macros that an environment has. has, all, exists, exists_one, map and filter are always there.
struct MacroSet {
  bool optionals = true;      // optMap, optFlatMap, and the syntax .?f, [?i]
  bool two_variables = true;  // all, exists, existsOne with two variables, transformList, transformMap …
  bool lists = true;          // sortBy
  bool bindings = false;      // cel.bind
};

/// Expands target.function(args…) or function(args…), if that is a macro. Returns null if it is none. An invalid macro
/// is reported and gives an invalid node.
Node* ExpandMacro(Ast& ast, const MacroSet& macros, std::int32_t position, std::string_view function, Node* target,
                  const std::vector<Node*>& args, Problems& problems);

}  // namespace apimesh::cel
