#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <boost/json/value.hpp>

namespace apimesh::cel {

class Value;

/// A list whose elements may be made on demand. Immutable.
class List {
 public:
  virtual ~List() = default;
  virtual std::size_t Size() const = 0;
  virtual Value At(std::size_t index) const = 0;
};
/// A map with keys of bool, int, uint or string. Immutable.
class Map {
 public:
  virtual ~Map() = default;
  virtual std::size_t Size() const = 0;
  virtual std::optional<Value> Find(const Value& key) const = 0;
  virtual std::vector<Value> Keys() const = 0;
};

/// A value of the language; small, cheap to copy. An error is a value too: it travels through operators until `&&`,
/// `||` or the end of the expression.
class Value {
 public:
  enum class Kind {
    kNull,
    kBool,
    kInt,
    kUint,
    kDouble,
    kString,
    kBytes,
    kList,
    kMap,
    kTimestamp,
    kDuration,
    kType,
    kOptional,
    kError
  };

  Value() = default;  // null
  static Value Bool(bool value) { return Value(Kind::kBool, value); }
  static Value Int(std::int64_t value) { return Value(Kind::kInt, value); }
  static Value Uint(std::uint64_t value) { return Value(Kind::kUint, value); }
  static Value Double(double value) { return Value(Kind::kDouble, value); }
  static Value String(std::string value);
  static Value Bytes(std::string value);
  static Value FromList(std::vector<Value> items);
  static Value FromList(std::shared_ptr<const List> list) { return Value(Kind::kList, std::move(list)); }
  static Value FromMap(
      std::vector<std::pair<Value, Value>> entries);  // a later entry replaces an earlier one of the same key
  static Value FromMap(std::shared_ptr<const Map> map) { return Value(Kind::kMap, std::move(map)); }
  /// Nanoseconds since 1970, and of a duration.
  static Value Timestamp(std::int64_t nanoseconds) { return Value(Kind::kTimestamp, nanoseconds); }
  static Value Duration(std::int64_t nanoseconds) { return Value(Kind::kDuration, nanoseconds); }
  static Value Type(std::string name);
  static Value None() { return Value(Kind::kOptional, std::shared_ptr<const Value>()); }
  static Value Some(Value value) { return Value(Kind::kOptional, std::make_shared<const Value>(std::move(value))); }
  static Value Error(std::string text);
  /// A view: numbers that are whole are ints. `json` must outlive the value, or be kept alive by `owner`.
  static Value FromJson(const boost::json::value& json, std::shared_ptr<const void> owner = nullptr);

  Kind GetKind() const { return kind_; }
  bool Is(Kind kind) const { return kind_ == kind; }
  bool IsError() const { return kind_ == Kind::kError; }
  bool IsNumber() const { return kind_ == Kind::kInt || kind_ == Kind::kUint || kind_ == Kind::kDouble; }

  // Each only if the kind is right.
  bool AsBool() const { return std::get<bool>(data_); }
  std::int64_t AsInt() const { return std::get<std::int64_t>(data_); }  // also the nanoseconds of a time
  std::uint64_t AsUint() const { return std::get<std::uint64_t>(data_); }
  double AsDouble() const { return std::get<double>(data_); }
  const std::string& AsString() const {
    return *std::get<std::shared_ptr<const std::string>>(data_);
  }  // also bytes, types and errors
  const List& AsList() const { return *std::get<std::shared_ptr<const List>>(data_); }
  const Map& AsMap() const { return *std::get<std::shared_ptr<const Map>>(data_); }
  const Value* AsOptional() const { return std::get<std::shared_ptr<const Value>>(data_).get(); }  // null: none

  /// "int", "string", "list", "google.protobuf.Timestamp", …
  std::string TypeName() const;
  /// For answers and messages; bytes as base64, times as text. Errors and types become their texts.
  boost::json::value ToJson() const;

 private:
  using Data =
      std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::shared_ptr<const std::string>,
                   std::shared_ptr<const List>, std::shared_ptr<const Map>, std::shared_ptr<const Value>>;
  Value(Kind kind, Data data) : kind_(kind), data_(std::move(data)) {}

  Kind kind_ = Kind::kNull;
  Data data_;
};

/// Deep, and across the kinds of numbers: 1 == 1u == 1.0. Values of different kinds are not equal.
bool Equal(const Value& a, const Value& b);
/// -1, 0, 1; nullopt if they can't be compared (other kinds, NaN).
std::optional<int> Compare(const Value& a, const Value& b);
/// The number of code points of UTF-8 text.
std::size_t CodePoints(std::string_view text);

}  // namespace apimesh::cel
