#pragma once

#include <map>
#include <optional>

#include "lib/cel/ast.h"
#include "lib/cel/lexer.h"
#include "lib/cel/type.h"

namespace apimesh::cel {

using Variables = std::map<std::string, Type>;

/// Finds what can be known to be wrong before anything runs: unknown variables, functions and fields, operators on
/// types that have none. Also compiles literal patterns. Returns the type of the whole.
Type Check(Node& node, const Variables& variables, std::optional<Problem>& problem);

}  // namespace apimesh::cel
