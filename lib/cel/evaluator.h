#pragma once

#include <map>

#include "lib/cel/ast.h"

namespace apimesh::cel {

Value Evaluate(const Node& node, const std::map<std::string, Value>& variables, std::uint64_t cost_limit);

}  // namespace apimesh::cel
