#include "lib/cel/cost/sizes.h"
#include "lib/cel/library/arithmetic.h"
#include "lib/cel/library/library.h"
#include "lib/cel/value/collections.h"
#include "lib/cel/value/compare.h"

namespace apimesh::cel {
namespace {

using Kind = Value::Kind;
using Args = std::span<const Value>;

struct Order {
  const char* function;
  const char* id;
  Body body;
};

bool IsOrdered(const Value& value) {
  return value.IsNumber() || value.Is(Kind::kBool) || value.Is(Kind::kString) || value.Is(Kind::kBytes) ||
         value.Is(Kind::kTimestamp) || value.Is(Kind::kDuration);
}

// kMask has bit 0 if "less" is true, bit 1 for "equal", bit 2 for "greater".
template <int kMask>
Value CompareBy(Args args, Arena& arena) {
  if (!IsOrdered(args[0])) {
    constexpr const char* kNames[] = {"", "_<_", "", "_<=_", "_>_", "", "_>=_"};
    return Unsupported(args[0], kNames[kMask], arena);
  }
  const Value order = Compare(args[0], args[1]);
  return order.IsError() ? order : Value::Bool(kMask >> (order.AsInt() + 1) & 1);
}

void AddOrder(Declarations& out, const Order& order) {
  const std::string id = order.id;
  const auto add = [&](const char* suffix, const TypeRef& a, const TypeRef& b) {
    out.Add(order.function, {id + "_" + suffix, false, {a, b}, Type::Bool(), nullptr});
  };
  const bool cross = out.cross_type_comparisons;
  add("bool", Type::Bool(), Type::Bool());
  add("int64", Type::Int(), Type::Int());
  if (cross) add("int64_double", Type::Int(), Type::Double());
  if (cross) add("int64_uint64", Type::Int(), Type::Uint());
  add("uint64", Type::Uint(), Type::Uint());
  if (cross) add("uint64_double", Type::Uint(), Type::Double());
  if (cross) add("uint64_int64", Type::Uint(), Type::Int());
  add("double", Type::Double(), Type::Double());
  if (cross) add("double_int64", Type::Double(), Type::Int());
  if (cross) add("double_uint64", Type::Double(), Type::Uint());
  add("string", Type::String(), Type::String());
  add("bytes", Type::Bytes(), Type::Bytes());
  add("timestamp", Type::Timestamp(), Type::Timestamp());
  add("duration", Type::Duration(), Type::Duration());
  out.functions[order.function].body = order.body;
}

void AddArithmetic(Declarations& out) {
  const auto add = [&](const char* function, const char* id, TypeRef a, TypeRef b, TypeRef result) {
    out.Add(function, {id, false, {std::move(a), std::move(b)}, std::move(result), nullptr});
  };
  const TypeRef &i = Type::Int(), &u = Type::Uint(), &d = Type::Double(), &t = Type::Timestamp(), &n = Type::Duration(),
                list = Type::List(Type::Parameter("A"));
  add("_+_", "add_bytes", Type::Bytes(), Type::Bytes(), Type::Bytes());
  add("_+_", "add_double", d, d, d);
  add("_+_", "add_duration_duration", n, n, n);
  add("_+_", "add_duration_timestamp", n, t, t);
  add("_+_", "add_timestamp_duration", t, n, t);
  add("_+_", "add_int64", i, i, i);
  add("_+_", "add_list", list, list, list);
  add("_+_", "add_string", Type::String(), Type::String(), Type::String());
  add("_+_", "add_uint64", u, u, u);
  add("_/_", "divide_double", d, d, d);
  add("_/_", "divide_int64", i, i, i);
  add("_/_", "divide_uint64", u, u, u);
  add("_%_", "modulo_int64", i, i, i);
  add("_%_", "modulo_uint64", u, u, u);
  add("_*_", "multiply_double", d, d, d);
  add("_*_", "multiply_int64", i, i, i);
  add("_*_", "multiply_uint64", u, u, u);
  add("_-_", "subtract_double", d, d, d);
  add("_-_", "subtract_duration_duration", n, n, n);
  add("_-_", "subtract_int64", i, i, i);
  add("_-_", "subtract_timestamp_duration", t, n, t);
  add("_-_", "subtract_timestamp_timestamp", t, t, n);
  add("_-_", "subtract_uint64", u, u, u);
  out.Add("-_", {"negate_double", false, {d}, d, nullptr});
  out.Add("-_", {"negate_int64", false, {i}, i, nullptr});
  out.functions["_+_"].body = AddValues;
  out.functions["_-_"].body = SubtractValues;
  out.functions["_*_"].body = MultiplyValues;
  out.functions["_/_"].body = DivideValues;
  out.functions["_%_"].body = ModuloValues;
  out.functions["-_"].body = NegateValue;
}

Value In(Args args, Arena& arena) {
  if (args[1].IsList()) return ListContains(args[1], args[0], arena);
  if (!args[1].IsMap()) return NoSuchOverload();
  const auto found = MapFind(args[1], args[0], arena);
  return found && found->IsError() ? *found : Value::Bool(found.has_value());
}

Value Size(Args args, Arena& arena) {
  const Value& value = args[0];
  if (value.Is(Kind::kString) || value.Is(Kind::kBytes) || value.IsList() || value.IsMap())
    return Value::Int(static_cast<std::int64_t>(SizeOf(value)));
  return Unsupported(value, "size", arena);
}

void AddCollections(Declarations& out) {
  const TypeRef a = Type::Parameter("A"), b = Type::Parameter("B"), list = Type::List(a), map = Type::Map(a, b);
  out.Add("_[_]", {"index_list", false, {list, Type::Int()}, a, nullptr});
  out.Add("_[_]", {"index_map", false, {map, a}, b, nullptr});
  out.Add("@in", {"in_list", false, {a, list}, Type::Bool(), nullptr});
  out.Add("@in", {"in_map", false, {a, map}, Type::Bool(), nullptr});
  out.functions["@in"].body = In;
  const auto size = [&](const char* global, const char* member, const TypeRef& type) {
    out.Add("size", {global, false, {type}, Type::Int(), nullptr});
    out.Add("size", {member, true, {type}, Type::Int(), nullptr});
  };
  size("size_bytes", "bytes_size", Type::Bytes());
  size("size_list", "list_size", list);
  size("size_map", "map_size", map);
  size("size_string", "string_size", Type::String());
  out.functions["size"].body = Size;
}

}  // namespace

void AddOperators(Declarations& out) {
  const TypeRef a = Type::Parameter("A"), &b = Type::Bool();
  out.Add("_?_:_", {"conditional", false, {b, a, a}, a, nullptr});
  out.Add("_&&_", {"logical_and", false, {b, b}, b, nullptr});
  out.Add("_||_", {"logical_or", false, {b, b}, b, nullptr});
  out.Add("!_", {"logical_not", false, {b}, b, nullptr});
  out.functions["!_"].body = [](Args args, Arena&) {
    return args[0].Is(Kind::kBool) ? Value::Bool(!args[0].AsBool()) : NoSuchOverload();
  };
  out.Add("@not_strictly_false", {"not_strictly_false", false, {b}, b, nullptr});
  out.Add("_==_", {"equals", false, {a, a}, b, nullptr});
  out.Add("_!=_", {"not_equals", false, {a, a}, b, nullptr});
  AddArithmetic(out);
  for (const Order& order : {Order{"_<_", "less", CompareBy<1>}, Order{"_<=_", "less_equals", CompareBy<3>},
                             Order{"_>_", "greater", CompareBy<4>}, Order{"_>=_", "greater_equals", CompareBy<6>}})
    AddOrder(out, order);
  AddCollections(out);
}

}  // namespace apimesh::cel
