#include "lib/cel/functions.h"

namespace apimesh::cel {
namespace {

using Kind = Value::Kind;
using Arguments = std::span<const Value>;

Value Join(Arguments a) {
  if (!a[0].Is(Kind::kList) || (a.size() == 2 && !a[1].Is(Kind::kString))) return NoOverload();
  std::string out;
  for (std::size_t i = 0; i < a[0].AsList().Size(); ++i) {
    const Value item = a[0].AsList().At(i);
    if (!item.Is(Kind::kString)) return NoOverload();
    if (i > 0 && a.size() == 2) out += a[1].AsString();
    out += item.AsString();
  }
  return Value::String(std::move(out));
}

Value IsSorted(Arguments a) {
  if (!a[0].Is(Kind::kList)) return NoOverload();
  for (std::size_t i = 1; i < a[0].AsList().Size(); ++i) {
    const auto order = Compare(a[0].AsList().At(i - 1), a[0].AsList().At(i));
    if (!order) return NoOverload();
    if (*order > 0) return Value::Bool(false);
  }
  return Value::Bool(true);
}

Value Sum(Arguments a) {
  if (!a[0].Is(Kind::kList)) return NoOverload();
  if (a[0].AsList().Size() == 0) return Value::Int(0);
  static const Function* add = FindFunction("+", false);
  Value total = a[0].AsList().At(0);
  for (std::size_t i = 1; i < a[0].AsList().Size() && !total.IsError(); ++i) {
    const std::array<Value, 2> terms{total, a[0].AsList().At(i)};
    total = add->body(terms);
  }
  return total.IsNumber() || total.Is(Kind::kDuration) || total.IsError() ? total : NoOverload();
}

Value Extreme(Arguments a, int wanted, const char* name) {
  if (!a[0].Is(Kind::kList)) return NoOverload();
  if (a[0].AsList().Size() == 0) return Value::Error(fmt::format("{} called on empty list", name));
  Value best = a[0].AsList().At(0);
  for (std::size_t i = 1; i < a[0].AsList().Size(); ++i) {
    const Value next = a[0].AsList().At(i);
    const auto order = Compare(next, best);
    if (!order) return NoOverload();
    if (*order == wanted) best = next;
  }
  return best;
}
Value Min(Arguments a) { return Extreme(a, -1, "min"); }
Value Max(Arguments a) { return Extreme(a, 1, "max"); }

Value SizeOf(Arguments a) { return FindFunction("size", false)->body(a); }

bool Has(const List& list, const Value& value) {
  for (std::size_t i = 0; i < list.Size(); ++i) {
    if (Equal(list.At(i), value)) return true;
  }
  return false;
}
bool HasAll(const List& list, const List& wanted) {
  for (std::size_t i = 0; i < wanted.Size(); ++i) {
    if (!Has(list, wanted.At(i))) return false;
  }
  return true;
}
bool Lists(Arguments a) { return a[0].Is(Kind::kList) && a[1].Is(Kind::kList); }
Value SetsContains(Arguments a) { return Lists(a) ? Value::Bool(HasAll(a[0].AsList(), a[1].AsList())) : NoOverload(); }
Value SetsEquivalent(Arguments a) {
  return Lists(a) ? Value::Bool(HasAll(a[0].AsList(), a[1].AsList()) && HasAll(a[1].AsList(), a[0].AsList()))
                  : NoOverload();
}
Value SetsIntersects(Arguments a) {
  if (!Lists(a)) return NoOverload();
  for (std::size_t i = 0; i < a[0].AsList().Size(); ++i) {
    if (Has(a[1].AsList(), a[0].AsList().At(i))) return Value::Bool(true);
  }
  return Value::Bool(false);
}

Value OptionalOf(Arguments a) { return Value::Some(a[0]); }
Value OptionalNone(Arguments) { return Value::None(); }
Value OptionalOfNonZero(Arguments a) {
  const Value& v = a[0];
  const bool zero = v.Is(Kind::kNull) || (v.Is(Kind::kBool) && !v.AsBool()) ||
                    (v.IsNumber() && Equal(v, Value::Int(0))) ||
                    ((v.Is(Kind::kString) || v.Is(Kind::kBytes)) && v.AsString().empty()) ||
                    (v.Is(Kind::kList) && v.AsList().Size() == 0) || (v.Is(Kind::kMap) && v.AsMap().Size() == 0);
  return zero ? Value::None() : Value::Some(v);
}

Value HasValue(Arguments a) {
  return a[0].Is(Kind::kOptional) ? Value::Bool(a[0].AsOptional() != nullptr) : NoOverload();
}
Value ValueOf(Arguments a) {
  if (!a[0].Is(Kind::kOptional)) return NoOverload();
  return a[0].AsOptional() ? *a[0].AsOptional() : Value::Error("optional.none() dereference");
}
Value OrValue(Arguments a) {
  return !a[0].Is(Kind::kOptional) ? NoOverload() : a[0].AsOptional() ? *a[0].AsOptional() : a[1];
}
Value Or(Arguments a) {
  return !a[0].Is(Kind::kOptional) || !a[1].Is(Kind::kOptional) ? NoOverload() : a[0].AsOptional() ? a[0] : a[1];
}

}  // namespace

std::vector<NamedFunction> ListMethods() {
  using Result = Type::Kind;
  return {{"join", {&Join, 1, 2, Result::kString, true}}, {"isSorted", {&IsSorted, 1, 1, Result::kBool, true}},
          {"sum", {&Sum, 1, 1, Result::kDyn, true}},      {"min", {&Min, 1, 1, Result::kDyn, true}},
          {"max", {&Max, 1, 1, Result::kDyn, true}},      {"size", {&SizeOf, 1, 1, Result::kInt, true}}};
}

std::vector<NamedFunction> SetFunctions() {
  using Result = Type::Kind;
  return {{"sets.contains", {&SetsContains, 2, 2, Result::kBool, true}},
          {"sets.equivalent", {&SetsEquivalent, 2, 2, Result::kBool, true}},
          {"sets.intersects", {&SetsIntersects, 2, 2, Result::kBool, true}},
          {"optional.of", {&OptionalOf, 1, 1, Result::kOptional}},
          {"optional.none", {&OptionalNone, 0, 0, Result::kOptional}},
          {"optional.ofNonZeroValue", {&OptionalOfNonZero, 1, 1, Result::kOptional}}};
}

std::vector<NamedFunction> OptionalMethods() {
  using Result = Type::Kind;
  return {{"hasValue", {&HasValue, 1, 1, Result::kBool}},
          {"value", {&ValueOf, 1, 1}},
          {"orValue", {&OrValue, 2, 2}},
          {"or", {&Or, 2, 2, Result::kOptional}}};
}

}  // namespace apimesh::cel
