#include "lib/cel/library/library.h"
#include "lib/cel/value/collections.h"
#include "lib/cel/value/text.h"

namespace apimesh::cel {
namespace {

using Kind = Value::Kind;
using Args = std::span<const Value>;

bool IsZero(const Value& value) {
  switch (value.GetKind()) {
    case Kind::kNull: return true;
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kUint:
    case Kind::kDuration: return value.AsInt() == 0;
    case Kind::kDouble: return value.AsDouble() == 0;
    case Kind::kString:
    case Kind::kBytes: return value.AsString().empty();
    case Kind::kList: return ListSize(value) == 0;
    case Kind::kMap: return MapSize(value) == 0;
    case Kind::kJsonList: return !value.GetShape() && ListSize(value) == 0;
    case Kind::kJsonMap: return !value.GetShape() && MapSize(value) == 0;
    case Kind::kTimestamp: return value.AsInt() == -62135596800 && value.Nanos() == 0;
    case Kind::kObject: return value.ObjectType()->name == "google.protobuf.Empty";
    default: return false;
  }
}

Value First(Args args, Arena& arena) {
  return ListSize(args[0]) == 0 ? Value::None() : Value::Some(arena, ListAt(args[0], 0, arena));
}
Value Last(Args args, Arena& arena) {
  const std::size_t size = ListSize(args[0]);
  return size == 0 ? Value::None() : Value::Some(arena, ListAt(args[0], size - 1, arena));
}

Value Unwrap(Args args, Arena& arena) {
  ListBuilder out(arena);
  for (std::size_t i = 0; i < ListSize(args[0]); ++i) {
    const Value item = ListAt(args[0], i, arena);
    if (!item.Is(Kind::kOptional)) return Errorf(arena, "value {} is not optional", ToMessage(item, arena));
    if (item.AsOptional()) out.Add(*item.AsOptional());
  }
  return out.Build();
}

}  // namespace

void AddOptionals(Declarations& out) {
  const TypeRef k = Type::Parameter("K"), v = Type::Parameter("V"), optional = Type::Optional(v), list = Type::List(v),
                map = Type::Map(k, v), optionals = Type::List(optional);
  out.types["optional_type"] = Type::Opaque("optional_type");
  out.Add("optional.of",
          {"optional_of", false, {v}, optional, [](Args args, Arena& arena) { return Value::Some(arena, args[0]); }});
  out.Add("optional.ofNonZeroValue", {"optional_ofNonZeroValue", false, {v}, optional, [](Args args, Arena& arena) {
                                        return IsZero(args[0]) ? Value::None() : Value::Some(arena, args[0]);
                                      }});
  out.Add("optional.none", {"optional_none", false, {}, optional, [](Args, Arena&) { return Value::None(); }});
  out.Add("value", {"optional_value", true, {optional}, v, [](Args args, Arena&) {
                      return args[0].AsOptional() ? *args[0].AsOptional() : Value::Error("optional.none() dereference");
                    }});
  out.Add("hasValue", {"optional_hasValue", true, {optional}, Type::Bool(), [](Args args, Arena&) {
                         return Value::Bool(args[0].AsOptional() != nullptr);
                       }});
  // The planner knows these: they don't evaluate all arguments, or select fields.
  out.Add("or", {"optional_or_optional", true, {optional, optional}, optional, nullptr});
  out.Add("orValue", {"optional_orValue_value", true, {optional, v}, v, nullptr});
  out.Add("_?._", {"select_optional_field", false, {Type::Dyn(), Type::String()}, optional, nullptr});
  const auto index = [&](const char* function, const char* id, TypeRef type, TypeRef key) {
    out.Add(function, {id, false, {std::move(type), std::move(key)}, optional, nullptr});
  };
  index("_[?_]", "list_optindex_optional_int", list, Type::Int());
  index("_[?_]", "optional_list_optindex_optional_int", Type::Optional(list), Type::Int());
  index("_[?_]", "map_optindex_optional_value", map, k);
  index("_[?_]", "optional_map_optindex_optional_value", Type::Optional(map), k);
  index("_[_]", "optional_list_index_int", Type::Optional(list), Type::Int());
  index("_[_]", "optional_map_index_value", Type::Optional(map), k);
  out.Add("last", {"list_last", true, {list}, optional, Last});
  out.Add("first", {"list_first", true, {list}, optional, First});
  out.Add("optional.unwrap", {"optional_unwrap", false, {optionals}, list, Unwrap});
  out.Add("unwrapOpt", {"optional_unwrapOpt", true, {optionals}, list, Unwrap});
}

}  // namespace apimesh::cel
