#include <cmath>

#include "lib/cel/functions.h"

namespace apimesh::cel {
namespace {

using Kind = Value::Kind;
using Arguments = std::span<const Value>;

Value Overflow(const char* type) { return Value::Error(fmt::format("{} overflow", type)); }

bool Both(Arguments a, Kind kind) { return a[0].Is(kind) && a[1].Is(kind); }

template <bool (*Checked)(std::int64_t, std::int64_t, std::int64_t*), class Make>
Value Integers(Arguments a, Make make, const char* name) {
  std::int64_t result = 0;
  return Checked(a[0].AsInt(), a[1].AsInt(), &result) ? Overflow(name) : make(result);
}
bool AddInt(std::int64_t a, std::int64_t b, std::int64_t* r) { return __builtin_add_overflow(a, b, r); }
bool SubInt(std::int64_t a, std::int64_t b, std::int64_t* r) { return __builtin_sub_overflow(a, b, r); }
bool MulInt(std::int64_t a, std::int64_t b, std::int64_t* r) { return __builtin_mul_overflow(a, b, r); }

Value JoinLists(const Value& a, const Value& b) {
  std::vector<Value> items;
  for (const Value* list : {&a, &b}) {
    for (std::size_t i = 0; i < list->AsList().Size(); ++i) items.push_back(list->AsList().At(i));
  }
  return Value::FromList(std::move(items));
}

Value Add(Arguments a) {
  if (Both(a, Kind::kInt)) return Integers<AddInt>(a, Value::Int, "integer");
  if (Both(a, Kind::kUint)) {
    std::uint64_t sum = 0;
    return __builtin_add_overflow(a[0].AsUint(), a[1].AsUint(), &sum) ? Overflow("unsigned integer") : Value::Uint(sum);
  }
  if (Both(a, Kind::kDouble)) return Value::Double(a[0].AsDouble() + a[1].AsDouble());
  if (Both(a, Kind::kString)) return Value::String(a[0].AsString() + a[1].AsString());
  if (Both(a, Kind::kBytes)) return Value::Bytes(a[0].AsString() + a[1].AsString());
  if (Both(a, Kind::kList)) return JoinLists(a[0], a[1]);
  if (Both(a, Kind::kDuration)) return Integers<AddInt>(a, Value::Duration, "duration");
  if ((a[0].Is(Kind::kTimestamp) && a[1].Is(Kind::kDuration)) ||
      (a[0].Is(Kind::kDuration) && a[1].Is(Kind::kTimestamp))) {
    return Integers<AddInt>(a, Value::Timestamp, "timestamp");
  }
  return NoOverload();
}

Value Subtract(Arguments a) {
  if (Both(a, Kind::kInt)) return Integers<SubInt>(a, Value::Int, "integer");
  if (Both(a, Kind::kUint))
    return a[0].AsUint() < a[1].AsUint() ? Overflow("unsigned integer") : Value::Uint(a[0].AsUint() - a[1].AsUint());
  if (Both(a, Kind::kDouble)) return Value::Double(a[0].AsDouble() - a[1].AsDouble());
  if (Both(a, Kind::kDuration) || Both(a, Kind::kTimestamp)) return Integers<SubInt>(a, Value::Duration, "duration");
  if (a[0].Is(Kind::kTimestamp) && a[1].Is(Kind::kDuration)) return Integers<SubInt>(a, Value::Timestamp, "timestamp");
  return NoOverload();
}

Value Multiply(Arguments a) {
  if (Both(a, Kind::kInt)) return Integers<MulInt>(a, Value::Int, "integer");
  if (Both(a, Kind::kUint)) {
    std::uint64_t product = 0;
    return __builtin_mul_overflow(a[0].AsUint(), a[1].AsUint(), &product) ? Overflow("unsigned integer")
                                                                          : Value::Uint(product);
  }
  return Both(a, Kind::kDouble) ? Value::Double(a[0].AsDouble() * a[1].AsDouble()) : NoOverload();
}

Value Divide(Arguments a) {
  if (Both(a, Kind::kInt)) {
    if (a[1].AsInt() == 0) return Value::Error("division by zero");
    if (a[0].AsInt() == INT64_MIN && a[1].AsInt() == -1) return Overflow("integer");
    return Value::Int(a[0].AsInt() / a[1].AsInt());
  }
  if (Both(a, Kind::kUint))
    return a[1].AsUint() == 0 ? Value::Error("division by zero") : Value::Uint(a[0].AsUint() / a[1].AsUint());
  return Both(a, Kind::kDouble) ? Value::Double(a[0].AsDouble() / a[1].AsDouble()) : NoOverload();
}

Value Modulo(Arguments a) {
  if (Both(a, Kind::kInt)) {
    if (a[1].AsInt() == 0) return Value::Error("modulus by zero");
    return Value::Int(a[1].AsInt() == -1 ? 0 : a[0].AsInt() % a[1].AsInt());
  }
  if (Both(a, Kind::kUint))
    return a[1].AsUint() == 0 ? Value::Error("modulus by zero") : Value::Uint(a[0].AsUint() % a[1].AsUint());
  return NoOverload();
}

Value Negate(Arguments a) {
  if (a[0].Is(Kind::kInt)) return a[0].AsInt() == INT64_MIN ? Overflow("integer") : Value::Int(-a[0].AsInt());
  if (a[0].Is(Kind::kDouble)) return Value::Double(-a[0].AsDouble());
  if (a[0].Is(Kind::kDuration))
    return a[0].AsInt() == INT64_MIN ? Overflow("duration") : Value::Duration(-a[0].AsInt());
  return NoOverload();
}

Value Not(Arguments a) { return a[0].Is(Kind::kBool) ? Value::Bool(!a[0].AsBool()) : NoOverload(); }

Value Equals(Arguments a) { return Value::Bool(Equal(a[0], a[1])); }
Value Differs(Arguments a) { return Value::Bool(!Equal(a[0], a[1])); }

template <class Test>
Value Ordered(Arguments a, Test test) {
  if (const auto order = Compare(a[0], a[1])) return Value::Bool(test(*order));
  return a[0].IsNumber() && a[1].IsNumber() ? Value::Bool(false) : NoOverload();  // NaN
}
Value Less(Arguments a) {
  return Ordered(a, [](int o) { return o < 0; });
}
Value LessOrEqual(Arguments a) {
  return Ordered(a, [](int o) { return o <= 0; });
}
Value Greater(Arguments a) {
  return Ordered(a, [](int o) { return o > 0; });
}
Value GreaterOrEqual(Arguments a) {
  return Ordered(a, [](int o) { return o >= 0; });
}

Value In(Arguments a) {
  if (a[1].Is(Kind::kMap)) return Value::Bool(a[1].AsMap().Find(a[0]).has_value());
  if (!a[1].Is(Kind::kList)) return NoOverload();
  for (std::size_t i = 0; i < a[1].AsList().Size(); ++i) {
    if (Equal(a[0], a[1].AsList().At(i))) return Value::Bool(true);
  }
  return Value::Bool(false);
}

std::optional<std::int64_t> IndexOf(const Value& value) {
  if (value.Is(Kind::kInt)) return value.AsInt();
  if (value.Is(Kind::kUint) && value.AsUint() <= INT64_MAX) return static_cast<std::int64_t>(value.AsUint());
  if (value.Is(Kind::kDouble) && value.AsDouble() == std::floor(value.AsDouble()) &&
      std::abs(value.AsDouble()) < 9e15) {
    return static_cast<std::int64_t>(value.AsDouble());
  }
  return std::nullopt;
}

// nullopt: there is nothing at that index.
std::optional<Value> At(const Value& target, const Value& key) {
  if (target.Is(Kind::kMap)) return target.AsMap().Find(key);
  const auto index = IndexOf(key);
  if (!index || *index < 0 || static_cast<std::size_t>(*index) >= target.AsList().Size()) return std::nullopt;
  return target.AsList().At(static_cast<std::size_t>(*index));
}

Value Index(Arguments a) {
  if (a[0].Is(Kind::kOptional)) {
    if (!a[0].AsOptional()) return a[0];
    const Value inner[] = {*a[0].AsOptional(), a[1]};
    if (!inner[0].Is(Kind::kMap) && !inner[0].Is(Kind::kList)) return NoOverload();
    const auto found = At(inner[0], inner[1]);
    return found ? Value::Some(*found) : Value::None();
  }
  if (a[0].Is(Kind::kMap)) {
    if (auto found = a[0].AsMap().Find(a[1])) return std::move(*found);
    const boost::json::value key = a[1].ToJson();
    return Value::Error("no such key: " +
                        (key.is_string() ? std::string(key.get_string()) : boost::json::serialize(key)));
  }
  if (!a[0].Is(Kind::kList)) return NoOverload();
  if (!IndexOf(a[1])) return NoOverload();
  if (auto found = At(a[0], a[1])) return std::move(*found);
  return Value::Error(fmt::format("index out of bounds: {}", *IndexOf(a[1])));
}

Value OptionalIndex(Arguments a) {
  const Value* target = a[0].Is(Kind::kOptional) ? a[0].AsOptional() : &a[0];
  if (!target) return Value::None();
  if (!target->Is(Kind::kMap) && !target->Is(Kind::kList)) return NoOverload();
  const auto found = At(*target, a[1]);
  return found ? Value::Some(*found) : Value::None();
}

Value Size(Arguments a) {
  switch (a[0].GetKind()) {
    case Kind::kString:
      return Value::Int(static_cast<std::int64_t>(CodePoints(a[0].AsString())));
    case Kind::kBytes:
      return Value::Int(static_cast<std::int64_t>(a[0].AsString().size()));
    case Kind::kList:
      return Value::Int(static_cast<std::int64_t>(a[0].AsList().Size()));
    case Kind::kMap:
      return Value::Int(static_cast<std::int64_t>(a[0].AsMap().Size()));
    default:
      return NoOverload();
  }
}

}  // namespace

std::vector<NamedFunction> OperatorFunctions() {
  using Result = Type::Kind;
  return {{"+", {&Add, 2, 2, Result::kDyn, true}},
          {"-", {&Subtract, 2, 2}},
          {"*", {&Multiply, 2, 2}},
          {"/", {&Divide, 2, 2}},
          {"%", {&Modulo, 2, 2}},
          {"-_", {&Negate, 1, 1}},
          {"!_", {&Not, 1, 1, Result::kBool}},
          {"==", {&Equals, 2, 2, Result::kBool, true}},
          {"!=", {&Differs, 2, 2, Result::kBool, true}},
          {"<", {&Less, 2, 2, Result::kBool, true}},
          {"<=", {&LessOrEqual, 2, 2, Result::kBool, true}},
          {">", {&Greater, 2, 2, Result::kBool, true}},
          {">=", {&GreaterOrEqual, 2, 2, Result::kBool, true}},
          {"in", {&In, 2, 2, Result::kBool, true}},
          {"_[_]", {&Index, 2, 2}},
          {"_[?_]", {&OptionalIndex, 2, 2, Result::kOptional}},
          {"size", {&Size, 1, 1, Result::kInt, true}}};
}

}  // namespace apimesh::cel
