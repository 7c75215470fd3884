#include "lib/cel/check/declarations.h"

namespace apimesh::cel {

const Function* Declarations::FindFunction(std::string_view name) const {
  if (name.starts_with('.')) name.remove_prefix(1);
  const auto found = functions.find(name);
  return found == functions.end() ? nullptr : &found->second;
}

void Declarations::Add(std::string_view function, Overload overload) {
  Function& entry = functions[std::string(function)];
  entry.name = function;
  entry.overloads.push_back(std::move(overload));
}

}  // namespace apimesh::cel
