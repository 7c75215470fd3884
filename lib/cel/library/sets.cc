#include "lib/cel/library/library.h"
#include "lib/cel/value/collections.h"

namespace apimesh::cel {
namespace {

using Args = std::span<const Value>;

Value Contains(const Value& list, const Value& items, Arena& arena) {
  for (std::size_t i = 0; i < ListSize(items); ++i) {
    const Value found = ListContains(list, ListAt(items, i, arena), arena);
    if (!found.IsTrue()) return found;
  }
  return Value::Bool(true);
}

Value Equivalent(Args args, Arena& arena) {
  const Value contains = Contains(args[0], args[1], arena);
  return contains.IsTrue() ? Contains(args[1], args[0], arena) : contains;
}

Value Intersects(Args args, Arena& arena) {
  for (std::size_t i = 0; i < ListSize(args[0]); ++i) {
    if (ListContains(args[1], ListAt(args[0], i, arena), arena).IsTrue()) return Value::Bool(true);
  }
  return Value::Bool(false);
}

}  // namespace

void AddSets(Declarations& out) {
  const TypeRef list = Type::List(Type::Parameter("T"));
  out.Add("sets.contains", {"list_sets_contains_list", false, {list, list}, Type::Bool(), [](Args args, Arena& arena) {
                              return Contains(args[0], args[1], arena);
                            }});
  out.Add("sets.equivalent", {"list_sets_equivalent_list", false, {list, list}, Type::Bool(), Equivalent});
  out.Add("sets.intersects", {"list_sets_intersects_list", false, {list, list}, Type::Bool(), Intersects});
}

// The planner knows this function; no expression can name it.
void AddComprehensions(Declarations& out) {
  const TypeRef k = Type::Parameter("K"), v = Type::Parameter("V"), map = Type::Map(k, v);
  out.Add("cel.@mapInsert", {"@mapInsert_map_key_value", false, {map, k, v}, map, nullptr});
  out.Add("cel.@mapInsert", {"@mapInsert_map_map", false, {map, map}, map, nullptr});
  out.macros.two_variables = true;
}

}  // namespace apimesh::cel
