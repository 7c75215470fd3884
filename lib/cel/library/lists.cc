#include <algorithm>
#include <numeric>

#include "lib/cel/library/arithmetic.h"
#include "lib/cel/library/library.h"
#include "lib/cel/library/type_values.h"
#include "lib/cel/value/collections.h"
#include "lib/cel/value/compare.h"

namespace apimesh::cel {
namespace {

using Kind = Value::Kind;
using Args = std::span<const Value>;

bool IsComparable(const Value& value) {
  return value.IsNumber() || value.Is(Kind::kBool) || value.Is(Kind::kString) || value.Is(Kind::kBytes) ||
         value.Is(Kind::kTimestamp) || value.Is(Kind::kDuration);
}

Value Slice(Args args, Arena& arena) {
  const std::int64_t start = args[1].AsInt(), end = args[2].AsInt();
  const std::int64_t size = static_cast<std::int64_t>(ListSize(args[0]));
  if (start < 0 || end < 0) return Errorf(arena, "cannot slice({}, {}), negative indexes not supported", start, end);
  if (start > end)
    return Errorf(arena, "cannot slice({}, {}), start index must be less than or equal to end index", start, end);
  if (size < end) return Errorf(arena, "cannot slice({}, {}), list is length {}", start, end, size);
  ListBuilder out(arena, static_cast<std::size_t>(end - start));
  for (std::int64_t i = start; i < end; ++i) out.Add(ListAt(args[0], static_cast<std::size_t>(i), arena));
  return out.Build();
}

// The depth of lists within lists is limited by the expression and the document.
void AddFlat(const Value& list, std::int64_t depth, ListBuilder& out, Arena& arena) {
  for (std::size_t i = 0; i < ListSize(list); ++i) {
    const Value item = ListAt(list, i, arena);
    if (!item.IsList() || depth == 0) {
      out.Add(item);
    } else {
      AddFlat(item, depth - 1, out, arena);
    }
  }
}

Value Flatten(Args args, Arena& arena) {
  if (!args[0].IsList() || (args.size() == 2 && !args[1].Is(Kind::kInt))) return NoSuchOverload();
  const std::int64_t depth = args.size() == 2 ? args[1].AsInt() : 1;
  if (depth < 0) return Value::Error("level must be non-negative");
  ListBuilder out(arena);
  AddFlat(args[0], depth, out, arena);
  return out.Build();
}

Value SortByKeys(const Value& list, const Value& keys, Arena& arena) {
  const std::size_t size = ListSize(list);
  if (size != ListSize(keys)) {
    return Errorf(arena,
                  "@sortByAssociatedKeys() expected a list of the same size as the associated keys list, but got {} "
                  "and {} elements respectively",
                  size, ListSize(keys));
  }
  if (size == 0) return list;
  std::vector<Value> values;
  for (std::size_t i = 0; i < size; ++i) values.push_back(ListAt(keys, i, arena));
  if (!IsComparable(values[0])) return Value::Error("list elements must be comparable");
  for (const Value& value : values) {
    if (value.GetKind() != values[0].GetKind() && size > 1)
      return Value::Error("list elements must have the same type");
  }
  std::vector<std::size_t> order(size);
  std::iota(order.begin(), order.end(), 0);
  // NaN is neither smaller nor larger than anything, for which a stable merge sort is safe.
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const Value result = Compare(values[a], values[b]);
    return !result.IsError() && result.AsInt() < 0;
  });
  ListBuilder out(arena, size);
  for (const std::size_t i : order) out.Add(ListAt(list, i, arena));
  return out.Build();
}

Value Sort(Args args, Arena& arena) {
  return args[0].IsList() ? SortByKeys(args[0], args[0], arena) : Unsupported(args[0], "sort", arena);
}
Value SortBy(Args args, Arena& arena) {
  if (!args[0].IsList() || !args[1].IsList()) return Unsupported(args[0], "@sortByAssociatedKeys", arena);
  return SortByKeys(args[0], args[1], arena);
}

Value Range(Args args, Arena& arena) {
  // The cost of the call is known only afterwards, so this limits the memory that one call can take.
  constexpr std::int64_t kMost = 10'000'000;
  if (args[0].AsInt() > kMost) return Value::Error("operation cancelled: actual cost limit exceeded");
  ListBuilder out(arena, static_cast<std::size_t>(std::max<std::int64_t>(0, args[0].AsInt())));
  for (std::int64_t i = 0; i < args[0].AsInt(); ++i) out.Add(Value::Int(i));
  return out.Build();
}

Value Reverse(Args args, Arena& arena) {
  ListBuilder out(arena, ListSize(args[0]));
  for (std::size_t i = ListSize(args[0]); i > 0; --i) out.Add(ListAt(args[0], i - 1, arena));
  return out.Build();
}

Value Distinct(Args args, Arena& arena) {
  ListBuilder out(arena);
  for (std::size_t i = 0; i < ListSize(args[0]); ++i) {
    const Value item = ListAt(args[0], i, arena);
    bool seen = false;
    for (std::size_t k = 0; k < out.Size() && !seen; ++k)
      seen = Equal(item, ListAt(out.Build(), k, arena), arena).IsTrue();
    if (!seen) out.Add(item);
  }
  return out.Build();
}

struct NamedType {
  std::string name;
  TypeRef type;
};
std::vector<NamedType> Comparable() {
  return {{"int", Type::Int()},       {"uint", Type::Uint()},         {"double", Type::Double()},
          {"bool", Type::Bool()},     {"duration", Type::Duration()}, {"timestamp", Type::Timestamp()},
          {"string", Type::String()}, {"bytes", Type::Bytes()}};
}

Value IsSorted(Args args, Arena& arena) {
  for (std::size_t i = 0; i < ListSize(args[0]); ++i) {
    const Value item = ListAt(args[0], i, arena);
    if (!IsComparable(item)) return item.IsError() ? item : NoSuchOverload();
    if (i == 0) continue;
    const Value order = Compare(ListAt(args[0], i - 1, arena), item);
    if (!order.IsError() && order.AsInt() > 0) return Value::Bool(false);
  }
  return Value::Bool(true);
}

// kBetter: what comparing the best item so far with a better one gives.
template <int kBetter>
Value Extreme(Args args, Arena& arena) {
  std::optional<Value> best;
  for (std::size_t i = 0; i < ListSize(args[0]); ++i) {
    const Value item = ListAt(args[0], i, arena);
    if (!IsComparable(item)) return item.IsError() ? item : NoSuchOverload();
    const Value order = best ? Compare(*best, item) : Value::Int(kBetter);
    if (!order.IsError() && order.AsInt() == kBetter) best = item;
  }
  return best ? *best : Value::Error(kBetter > 0 ? "min called on empty list" : "max called on empty list");
}

template <Kind kKind>
Value Sum(Args args, Arena& arena) {
  Value sum = kKind == Kind::kInt      ? Value::Int(0)
              : kKind == Kind::kUint   ? Value::Uint(0)
              : kKind == Kind::kDouble ? Value::Double(0)
                                       : Value::Duration(0);
  for (std::size_t i = 0; i < ListSize(args[0]); ++i) {
    const Value pair[] = {sum, ListAt(args[0], i, arena)};
    if (pair[1].IsError()) return pair[1];
    sum = AddValues(pair, arena);
    if (sum.IsError()) return sum;
  }
  return sum;
}

template <bool kLast>
Value IndexOf(Args args, Arena& arena) {
  const std::size_t size = ListSize(args[0]);
  for (std::size_t i = 0; i < size; ++i) {
    const std::size_t at = kLast ? size - 1 - i : i;
    if (Equal(ListAt(args[0], at, arena), args[1], arena).IsTrue()) return Value::Int(static_cast<std::int64_t>(at));
  }
  return Value::Int(-1);
}

}  // namespace

void AddKubernetesLists(Declarations& out) {
  for (const auto& [name, type] : Comparable()) {
    const TypeRef list = Type::List(type);
    out.Add("isSorted", {fmt::format("list_{}_is_sorted_bool", name), true, {list}, Type::Bool(), IsSorted});
    out.Add("max", {fmt::format("list_{0}_max_{0}", name), true, {list}, type, Extreme<-1>});
    out.Add("min", {fmt::format("list_{0}_min_{0}", name), true, {list}, type, Extreme<1>});
  }
  out.Add("sum", {"list_int_sum_int", true, {Type::List(Type::Int())}, Type::Int(), Sum<Kind::kInt>});
  out.Add("sum", {"list_uint_sum_uint", true, {Type::List(Type::Uint())}, Type::Uint(), Sum<Kind::kUint>});
  out.Add("sum", {"list_double_sum_double", true, {Type::List(Type::Double())}, Type::Double(), Sum<Kind::kDouble>});
  out.Add("sum",
          {"list_duration_sum_duration", true, {Type::List(Type::Duration())}, Type::Duration(), Sum<Kind::kDuration>});
  const TypeRef a = Type::Parameter("A");
  out.Add("indexOf", {"list_a_index_of_int", true, {Type::List(a), a}, Type::Int(), IndexOf<false>});
  out.Add("lastIndexOf", {"list_a_last_index_of_int", true, {Type::List(a), a}, Type::Int(), IndexOf<true>});
}

void AddLists(Declarations& out) {
  const TypeRef list = Type::List(Type::Parameter("T")), dyn = Type::List(Type::Dyn()), &i = Type::Int();
  out.Add("slice", {"list_slice", true, {list, i, i}, list, Slice});
  out.Add("flatten", {"list_flatten", true, {Type::List(list)}, list, Flatten});
  out.Add("flatten", {"list_flatten_int", true, {dyn, i}, dyn, Flatten});
  out.functions["flatten"].unguarded = true;
  for (const auto& [name, type] : Comparable()) {
    out.Add("sort", {fmt::format("list_{}_sort", type->name), true, {Type::List(type)}, Type::List(type), nullptr});
    out.Add("@sortByAssociatedKeys",
            {fmt::format("list_{}_sortByAssociatedKeys", type->name), true, {list, Type::List(type)}, list, nullptr});
  }
  out.functions["sort"].body = Sort;
  out.functions["@sortByAssociatedKeys"].body = SortBy;
  out.Add("lists.range", {"lists_range", false, {i}, Type::List(i), Range});
  out.Add("reverse", {"list_reverse", true, {list}, list, Reverse});
  out.Add("distinct", {"list_distinct", true, {list}, list, Distinct});
  out.macros.lists = true;
}

}  // namespace apimesh::cel
