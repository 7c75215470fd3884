#include "lib/cel/value/compare.h"

#include <algorithm>
#include <cmath>

#include "lib/cel/types/shape.h"
#include "lib/cel/value/collections.h"
#include "lib/meta/equal.h"

namespace apimesh::cel {
namespace {

using Kind = Value::Kind;

template <typename T>
int Order(const T& a, const T& b) {
  return a < b ? -1 : a > b ? 1 : 0;
}

int CompareDoubleInt(double d, std::int64_t i) {
  if (d < -9223372036854775808.0) return -1;
  if (d > 9223372036854775807.0) return 1;
  return Order(d, static_cast<double>(i));
}

int CompareDoubleUint(double d, std::uint64_t u) {
  if (d < 0) return -1;
  if (d > 18446744073709551615.0) return 1;
  return Order(d, static_cast<double>(u));
}

int CompareIntUint(std::int64_t i, std::uint64_t u) {
  if (i < 0 || u > INT64_MAX) return -1;
  return Order(i, static_cast<std::int64_t>(u));
}

// Neither number is NaN.
int CompareNumbers(const Value& a, const Value& b) {
  if (a.Is(Kind::kDouble)) {
    if (b.Is(Kind::kDouble)) return Order(a.AsDouble(), b.AsDouble());
    return b.Is(Kind::kInt) ? CompareDoubleInt(a.AsDouble(), b.AsInt()) : CompareDoubleUint(a.AsDouble(), b.AsUint());
  }
  if (b.Is(Kind::kDouble)) return -CompareNumbers(b, a);
  if (a.Is(Kind::kInt)) return b.Is(Kind::kInt) ? Order(a.AsInt(), b.AsInt()) : CompareIntUint(a.AsInt(), b.AsUint());
  return b.Is(Kind::kUint) ? Order(a.AsUint(), b.AsUint()) : -CompareIntUint(b.AsInt(), a.AsUint());
}

bool IsNan(const Value& value) { return value.Is(Kind::kDouble) && std::isnan(value.AsDouble()); }

// Every element of `b` is in `a`, as the same type: 1.0 is not an element of a set that contains 1.
bool EqualSets(const Value& a, const Value& b, Arena& arena) {
  const auto contains = [&](const Value& item) {
    for (std::size_t i = 0; i < ListSize(a); ++i) {
      const Value element = ListAt(a, i, arena);
      if (element.GetKind() == item.GetKind() && Equal(element, item, arena).IsTrue()) return true;
    }
    return false;
  };
  for (std::size_t i = 0; i < ListSize(b); ++i) {
    if (!contains(ListAt(b, i, arena))) return false;
  }
  return true;
}

bool HaveSameKeys(const Value& a, const Value& b, const std::vector<std::string>& keys) {
  return std::all_of(keys.begin(), keys.end(), [&](const std::string& key) {
    const boost::json::value *left = a.AsJsonObject().if_contains(key), *right = b.AsJsonObject().if_contains(key);
    return left && right ? *left == *right : left == right;
  });
}

// Every element of `b` equals the element of `a` that has the same keys. Only objects of documents have keys.
Value EqualMapLists(const Value& a, const Value& b, Arena& arena) {
  const std::vector<std::string>& keys = a.GetShape()->list_keys;
  for (std::size_t i = 0; i < ListSize(b); ++i) {
    const Value item = ListAt(b, i, arena);
    if (!item.Is(Kind::kJsonMap)) return Value::Bool(false);
    Value equal = Value::Bool(false);
    for (std::size_t j = ListSize(a); j > 0; --j) {  // the last element of several with the same keys
      const Value element = ListAt(a, j - 1, arena);
      if (!element.Is(Kind::kJsonMap) || !HaveSameKeys(element, item, keys)) continue;
      equal = Equal(element, item, arena);
      break;
    }
    if (!equal.IsTrue()) return equal;
  }
  return Value::Bool(true);
}

/// Compares elements and fields of documents that have a schema. Unlike the operands of ==, a list or a map is not just
/// different from null: such a comparison is an error.
Value EqualInSchema(const Value& a, const Value& b, Arena& arena) {
  const bool shaped = (a.Is(Kind::kJsonList) || a.Is(Kind::kJsonMap)) && a.GetShape();
  return shaped && b.Is(Kind::kNull) ? NoSuchOverload() : Equal(a, b, arena);
}

Value EqualLists(const Value& a, const Value& b, Arena& arena) {
  if (ListSize(a) != ListSize(b)) return Value::Bool(false);
  const bool strict = a.Is(Kind::kJsonList) && a.GetShape();
  if (strict && a.GetShape()->list_type == Shape::ListType::kSet) return Value::Bool(EqualSets(a, b, arena));
  if (strict && a.GetShape()->list_type == Shape::ListType::kMap) return EqualMapLists(a, b, arena);
  for (std::size_t i = 0; i < ListSize(a); ++i) {
    const Value left = ListAt(a, i, arena), right = ListAt(b, i, arena);
    const Value equal = strict ? EqualInSchema(left, right, arena) : Equal(left, right, arena);
    if (equal.IsFalse() || (strict && equal.IsError())) return equal;
  }
  return Value::Bool(true);
}

// Objects of a schema: null is like absent, and what expressions can't name is compared as JSON.
Value EqualShaped(const Value& a, const Value& b, Arena& arena) {
  if (!b.IsMap()) return NoSuchOverload();
  if (MapSize(a) != MapSize(b)) return Value::Bool(false);
  const Shape& shape = *a.GetShape();
  for (const auto& [name, json] : a.AsJsonObject()) {
    const std::string_view key = name;
    std::string escaped(key);
    if (shape.kind == Shape::Kind::kObject) {
      const auto known = shape.fields_by_json_name.find(key);
      if (known == shape.fields_by_json_name.end() || known->second->kind == Shape::Kind::kHidden) {
        const boost::json::value* other = b.Is(Kind::kJsonMap) ? b.AsJsonObject().if_contains(key) : nullptr;
        if (other && !meta::Equal(json, *other)) return Value::Bool(false);
        continue;
      }
      escaped = EscapeName(key).value_or(escaped);
    }
    const auto left = MapFind(a, Value::String(escaped), arena), right = MapFind(b, Value::String(escaped), arena);
    if (left.has_value() != right.has_value()) return Value::Bool(false);
    if (!left) continue;
    const Value equal = EqualInSchema(*left, *right, arena);
    if (!equal.IsTrue()) return equal;
  }
  return Value::Bool(true);
}

Value EqualMaps(const Value& a, const Value& b, Arena& arena) {
  if (a.Is(Kind::kJsonMap) && a.GetShape()) return EqualShaped(a, b, arena);
  if (!b.IsMap() || MapSize(a) != MapSize(b)) return Value::Bool(false);
  bool equal = true;
  ForEachEntry(a, arena, [&](const Value& key, const Value& value) {
    const auto other = MapFind(b, key, arena);
    equal = other && !Equal(value, *other, arena).IsFalse();
    return equal;
  });
  return Value::Bool(equal);
}

Value EqualObjects(const Value& a, const Value& b, Arena& arena) {
  if (!b.Is(Kind::kObject) || a.ObjectType()->name != b.ObjectType()->name) return Value::Bool(false);
  return EqualMaps(Value::Map(a.AsMapData()), Value::Map(b.AsMapData()), arena);
}

Value EqualOptionals(const Value* a, const Value* b, Arena& arena) {
  if (!a || !b) return Value::Bool(!a && !b);
  return Equal(*a, *b, arena);
}

}  // namespace

Value Equal(const Value& a, const Value& b, Arena& arena) {
  if (a.IsError()) return a;
  if (b.IsError()) return b;
  if (a.IsNumber() && b.IsNumber()) return Value::Bool(!IsNan(a) && !IsNan(b) && CompareNumbers(a, b) == 0);
  switch (a.GetKind()) {
    case Kind::kNull: return Value::Bool(b.Is(Kind::kNull));
    case Kind::kBool: return Value::Bool(b.Is(Kind::kBool) && a.AsBool() == b.AsBool());
    case Kind::kString:
    case Kind::kBytes: return Value::Bool(a.GetKind() == b.GetKind() && a.AsString() == b.AsString());
    case Kind::kTimestamp:
      return Value::Bool(b.Is(Kind::kTimestamp) && a.AsInt() == b.AsInt() && a.Nanos() == b.Nanos());
    case Kind::kDuration: return Value::Bool(b.Is(Kind::kDuration) && a.AsInt() == b.AsInt());
    case Kind::kType: return Value::Bool(b.Is(Kind::kType) && a.AsType()->name == b.AsType()->name);
    case Kind::kList:
    case Kind::kJsonList:
      if (b.IsList()) return EqualLists(a, b, arena);
      return a.Is(Kind::kJsonList) && a.GetShape() && !b.Is(Kind::kNull) ? NoSuchOverload() : Value::Bool(false);
    case Kind::kMap:
    case Kind::kJsonMap:
    case Kind::kDynamicMap: return b.Is(Kind::kNull) ? Value::Bool(false) : EqualMaps(a, b, arena);
    case Kind::kObject: return EqualObjects(a, b, arena);
    case Kind::kOptional:
      return b.Is(Kind::kOptional) ? EqualOptionals(a.AsOptional(), b.AsOptional(), arena) : Value::Bool(false);
    case Kind::kOpaque:
      if (b.Is(Kind::kNull)) return Value::Bool(false);
      if (!b.Is(Kind::kOpaque) || a.AsOpaque().TypeName() != b.AsOpaque().TypeName() || !b.AsOpaque().CanEqual())
        return NoSuchOverload();
      return Value::Bool(a.AsOpaque().Equals(b.AsOpaque()));
    default: return Value::Bool(false);
  }
}

Value Compare(const Value& a, const Value& b) {
  if (a.IsNumber() && b.IsNumber()) {
    if (IsNan(a) || IsNan(b)) return Value::Error("NaN values cannot be ordered");
    return Value::Int(CompareNumbers(a, b));
  }
  if (IsNan(a)) return Value::Error("NaN values cannot be ordered");  // whatever it is compared with
  if (a.GetKind() != b.GetKind()) return NoSuchOverload();
  switch (a.GetKind()) {
    case Kind::kBool: return Value::Int(Order(a.AsBool(), b.AsBool()));
    case Kind::kString:
    case Kind::kBytes: return Value::Int(Order(a.AsString().compare(b.AsString()), 0));
    case Kind::kDuration: return Value::Int(Order(a.AsInt(), b.AsInt()));
    case Kind::kTimestamp:
      return Value::Int(a.AsInt() != b.AsInt() ? Order(a.AsInt(), b.AsInt()) : Order(a.Nanos(), b.Nanos()));
    default: return NoSuchOverload();
  }
}

}  // namespace apimesh::cel
