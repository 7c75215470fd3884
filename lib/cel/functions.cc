#include "lib/cel/functions.h"

#include <unordered_map>

namespace apimesh::cel {
namespace {

using Table = std::unordered_map<std::string, Function>;

Table Join(std::initializer_list<std::vector<NamedFunction>> lists) {
  Table table;
  for (const auto& list : lists) table.insert(list.begin(), list.end());
  return table;
}

}  // namespace

const Function* FindFunction(const std::string& name, bool method) {
  static const Table functions = Join({OperatorFunctions(), ConversionFunctions(), SetFunctions()});
  static const Table methods = Join({StringMethods(), ListMethods(), TimeMethods(), OptionalMethods()});
  const Table& table = method ? methods : functions;
  const auto found = table.find(name);
  return found == table.end() ? nullptr : &found->second;
}

Value NoOverload() { return Value::Error("no such overload"); }

}  // namespace apimesh::cel
