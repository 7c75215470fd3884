#pragma once

#include <span>
#include <string>
#include <vector>

#include "lib/cel/type.h"
#include "lib/cel/value.h"

namespace apimesh::cel {

/// One function for all the types it knows; it looks at its arguments itself. Errors among the arguments never reach
/// it.
struct Function {
  using Body = Value (*)(std::span<const Value> arguments);
  Body body = nullptr;
  std::size_t min_arguments = 0, max_arguments = 0;  // a method's target counts as one
  Type::Kind result = Type::Kind::kDyn;
  bool linear = false;  // costs as much as its arguments are long
};

/// By name; null if there is none. `method`: called as target.name(…). Operators are functions called "+", "_[_]" …
const Function* FindFunction(const std::string& name, bool method);

using NamedFunction = std::pair<std::string, Function>;
// One list a file.
std::vector<NamedFunction> OperatorFunctions();
std::vector<NamedFunction> ConversionFunctions();
std::vector<NamedFunction> StringMethods();
std::vector<NamedFunction> ListMethods();
std::vector<NamedFunction> TimeMethods();
std::vector<NamedFunction> OptionalMethods();
std::vector<NamedFunction> SetFunctions();

/// "no such overload": the arguments are of types that the function does not know.
Value NoOverload();

}  // namespace apimesh::cel
