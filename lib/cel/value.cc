#include "lib/cel/value.h"

#include <cmath>

#include "lib/cel/time_text.h"

namespace apimesh::cel {
namespace {

class VectorList final : public List {
 public:
  explicit VectorList(std::vector<Value> items) : items_(std::move(items)) {}
  std::size_t Size() const override { return items_.size(); }
  Value At(std::size_t index) const override { return items_[index]; }

 private:
  const std::vector<Value> items_;
};

class VectorMap final : public Map {
 public:
  explicit VectorMap(std::vector<std::pair<Value, Value>> entries) : entries_(std::move(entries)) {}
  std::size_t Size() const override { return entries_.size(); }
  std::optional<Value> Find(const Value& key) const override {
    for (const auto& [name, value] : entries_) {
      if (Equal(name, key)) return value;
    }
    return std::nullopt;
  }
  std::vector<Value> Keys() const override {
    std::vector<Value> keys;
    for (const auto& [name, value] : entries_) keys.push_back(name);
    return keys;
  }

 private:
  const std::vector<std::pair<Value, Value>> entries_;
};

class JsonList final : public List {
 public:
  JsonList(const boost::json::array& array, std::shared_ptr<const void> owner)
      : array_(array), owner_(std::move(owner)) {}
  std::size_t Size() const override { return array_.size(); }
  Value At(std::size_t index) const override { return Value::FromJson(array_[index], owner_); }

 private:
  const boost::json::array& array_;
  const std::shared_ptr<const void> owner_;
};

class JsonMap final : public Map {
 public:
  JsonMap(const boost::json::object& object, std::shared_ptr<const void> owner)
      : object_(object), owner_(std::move(owner)) {}
  std::size_t Size() const override { return object_.size(); }
  std::optional<Value> Find(const Value& key) const override {
    if (!key.Is(Value::Kind::kString)) return std::nullopt;
    const boost::json::value* found = object_.if_contains(key.AsString());
    return found ? std::optional(Value::FromJson(*found, owner_)) : std::nullopt;
  }
  std::vector<Value> Keys() const override {
    std::vector<Value> keys;
    for (const auto& entry : object_) keys.push_back(Value::String(std::string(entry.key())));
    return keys;
  }

 private:
  const boost::json::object& object_;
  const std::shared_ptr<const void> owner_;
};

std::shared_ptr<const std::string> Shared(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

bool EqualLists(const List& a, const List& b) {
  if (a.Size() != b.Size()) return false;
  for (std::size_t i = 0; i < a.Size(); ++i) {
    if (!Equal(a.At(i), b.At(i))) return false;
  }
  return true;
}

bool EqualMaps(const Map& a, const Map& b) {
  if (a.Size() != b.Size()) return false;
  for (const Value& key : a.Keys()) {
    const auto other = b.Find(key);
    if (!other || !Equal(*a.Find(key), *other)) return false;
  }
  return true;
}

template <class T>
int Order(const T& a, const T& b) {
  return a < b ? -1 : b < a ? 1 : 0;
}

// Exact also where a double can't hold the integer.
std::optional<int> CompareDouble(double a, const Value& b) {
  if (std::isnan(a)) return std::nullopt;
  if (b.Is(Value::Kind::kDouble))
    return std::isnan(b.AsDouble()) ? std::nullopt : std::optional(Order(a, b.AsDouble()));
  if (b.Is(Value::Kind::kInt)) {
    if (a < -9223372036854775808.0) return -1;
    if (a >= 9223372036854775808.0) return 1;
    const auto whole = static_cast<std::int64_t>(a);
    return whole != b.AsInt() ? Order(whole, b.AsInt()) : Order(a, static_cast<double>(whole));
  }
  if (a < 0) return -1;
  if (a >= 18446744073709551616.0) return 1;
  const auto whole = static_cast<std::uint64_t>(a);
  return whole != b.AsUint() ? Order(whole, b.AsUint()) : Order(a, static_cast<double>(whole));
}

std::optional<int> CompareNumbers(const Value& a, const Value& b) {
  using Kind = Value::Kind;
  if (a.Is(Kind::kDouble)) return CompareDouble(a.AsDouble(), b);
  if (b.Is(Kind::kDouble)) {
    const auto other = CompareDouble(b.AsDouble(), a);
    return other ? std::optional(-*other) : std::nullopt;
  }
  if (a.GetKind() == b.GetKind()) return a.Is(Kind::kInt) ? Order(a.AsInt(), b.AsInt()) : Order(a.AsUint(), b.AsUint());
  if (a.Is(Kind::kInt)) return a.AsInt() < 0 ? -1 : Order(static_cast<std::uint64_t>(a.AsInt()), b.AsUint());
  return b.AsInt() < 0 ? 1 : Order(a.AsUint(), static_cast<std::uint64_t>(b.AsInt()));
}

}  // namespace

Value Value::String(std::string value) { return Value(Kind::kString, Shared(std::move(value))); }
Value Value::Bytes(std::string value) { return Value(Kind::kBytes, Shared(std::move(value))); }
Value Value::Type(std::string name) { return Value(Kind::kType, Shared(std::move(name))); }
Value Value::Error(std::string text) { return Value(Kind::kError, Shared(std::move(text))); }
Value Value::FromList(std::vector<Value> items) { return FromList(std::make_shared<VectorList>(std::move(items))); }
Value Value::FromMap(std::vector<std::pair<Value, Value>> entries) {
  return FromMap(std::make_shared<VectorMap>(std::move(entries)));
}

Value Value::FromJson(const boost::json::value& json, std::shared_ptr<const void> owner) {
  switch (json.kind()) {
    case boost::json::kind::null:
      return Value();
    case boost::json::kind::bool_:
      return Bool(json.get_bool());
    case boost::json::kind::int64:
      return Int(json.get_int64());
    case boost::json::kind::uint64:
      return Uint(json.get_uint64());
    case boost::json::kind::double_:
      return Double(json.get_double());
    case boost::json::kind::string:
      return String(std::string(json.get_string()));
    case boost::json::kind::array:
      return FromList(std::make_shared<JsonList>(json.get_array(), std::move(owner)));
    case boost::json::kind::object:
      return FromMap(std::make_shared<JsonMap>(json.get_object(), std::move(owner)));
  }
  return Value();
}

std::string Value::TypeName() const {
  switch (kind_) {
    case Kind::kNull:
      return "null_type";
    case Kind::kBool:
      return "bool";
    case Kind::kInt:
      return "int";
    case Kind::kUint:
      return "uint";
    case Kind::kDouble:
      return "double";
    case Kind::kString:
      return "string";
    case Kind::kBytes:
      return "bytes";
    case Kind::kList:
      return "list";
    case Kind::kMap:
      return "map";
    case Kind::kTimestamp:
      return "google.protobuf.Timestamp";
    case Kind::kDuration:
      return "google.protobuf.Duration";
    case Kind::kType:
      return "type";
    case Kind::kOptional:
      return "optional_type";
    case Kind::kError:
      return "error";
  }
  return "";
}

boost::json::value Value::ToJson() const {
  switch (kind_) {
    case Kind::kNull:
      return nullptr;
    case Kind::kBool:
      return AsBool();
    case Kind::kInt:
      return AsInt();
    case Kind::kUint:
      return AsUint();
    case Kind::kDouble:
      return AsDouble();
    case Kind::kTimestamp:
      return boost::json::value(TimestampText(AsInt()));
    case Kind::kDuration:
      return boost::json::value(DurationText(AsInt()));
    case Kind::kList: {
      boost::json::array array;
      for (std::size_t i = 0; i < AsList().Size(); ++i) array.push_back(AsList().At(i).ToJson());
      return array;
    }
    case Kind::kMap: {
      boost::json::object object;
      for (const Value& key : AsMap().Keys()) {
        const boost::json::value name = key.ToJson();
        object[name.is_string() ? std::string(name.get_string()) : boost::json::serialize(name)] =
            AsMap().Find(key)->ToJson();
      }
      return object;
    }
    case Kind::kOptional:
      return AsOptional() ? AsOptional()->ToJson() : nullptr;
    default:
      return boost::json::value(AsString());
  }
}

bool Equal(const Value& a, const Value& b) {
  using Kind = Value::Kind;
  if (a.IsNumber() && b.IsNumber()) return CompareNumbers(a, b) == 0;
  if (a.GetKind() != b.GetKind()) return false;
  switch (a.GetKind()) {
    case Kind::kNull:
      return true;
    case Kind::kBool:
      return a.AsBool() == b.AsBool();
    case Kind::kTimestamp:
    case Kind::kDuration:
      return a.AsInt() == b.AsInt();
    case Kind::kList:
      return EqualLists(a.AsList(), b.AsList());
    case Kind::kMap:
      return EqualMaps(a.AsMap(), b.AsMap());
    case Kind::kOptional:
      return a.AsOptional() && b.AsOptional() ? Equal(*a.AsOptional(), *b.AsOptional())
                                              : !a.AsOptional() && !b.AsOptional();
    default:
      return a.AsString() == b.AsString();
  }
}

std::optional<int> Compare(const Value& a, const Value& b) {
  using Kind = Value::Kind;
  if (a.IsNumber() && b.IsNumber()) return CompareNumbers(a, b);
  if (a.GetKind() != b.GetKind()) return std::nullopt;
  switch (a.GetKind()) {
    case Kind::kBool:
      return Order(a.AsBool(), b.AsBool());
    case Kind::kString:
    case Kind::kBytes:
      return Order(a.AsString(), b.AsString());
    case Kind::kTimestamp:
    case Kind::kDuration:
      return Order(a.AsInt(), b.AsInt());
    default:
      return std::nullopt;
  }
}

std::size_t CodePoints(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace apimesh::cel
