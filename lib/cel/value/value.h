#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <boost/json/value.hpp>
#include <fmt/format.h>

#include "lib/cel/value/arena.h"

namespace apimesh::cel {

class Value;
struct Type;
struct Shape;

/// A list that was computed by an expression. `items` lie in an arena or in the program.
struct ListData {
  const Value* items = nullptr;
  std::size_t size = 0;
  std::size_t capacity = 0;  // of a list that a comprehension still extends
};

struct MapEntry;
/// A map that was computed by an expression, in the order of insertion.
struct MapData {
  MapEntry* entries = nullptr;
  std::size_t size = 0;
  std::size_t capacity = 0;
  std::uint32_t* index = nullptr;  // of a large map: entry numbers + 1 by the hash of their key; 0 is empty
  std::size_t index_size = 0;      // a power of two
};

/// A map whose entries the embedder computes, e.g. variables that are evaluated on first use.
class DynamicMap {
 public:
  virtual ~DynamicMap() = default;
  virtual std::size_t Size() const = 0;
  virtual std::optional<Value> Find(std::string_view key) const = 0;
};

/// A value of a type that a library adds, such as an IP address.
class Opaque {
 public:
  virtual ~Opaque() = default;
  virtual std::string_view TypeName() const = 0;
  virtual bool Equals(const Opaque& other) const = 0;
  virtual std::string ToString() const = 0;
  /// The function that makes the value of a text, if there is one: "ip".
  virtual std::string_view Constructor() const { return ""; }
  /// Whether another value can be equal to this one; comparing them is an error if not.
  virtual bool CanEqual() const { return true; }
  /// What size() means for costs.
  virtual std::uint64_t Size() const { return 1; }
};

/// A value of the language: 24 bytes, trivially copied. Texts, lists and maps refer to memory of the program, of the
/// JSON document or of the arena of the evaluation, and are valid as long as these are. An error is a value too.
class Value {
 public:
  enum class Kind : std::uint8_t {
    kNull,
    kBool,
    kInt,
    kUint,
    kDouble,
    kString,
    kBytes,
    kList,      // ListData
    kJsonList,  // a JSON array, seen through a shape
    kMap,       // MapData
    kJsonMap,   // a JSON object, seen through a shape
    kDynamicMap,
    kObject,  // a message that an expression constructed: MapData with a type name
    kTimestamp,
    kDuration,
    kType,
    kOptional,
    kOpaque,
    kError,
    kUnset,  // a variable without a value
  };

  constexpr Value() : i_(0) {}  // null
  static Value Bool(bool value) { return Make(Kind::kBool, value); }
  static Value Int(std::int64_t value) { return Make(Kind::kInt, value); }
  static Value Uint(std::uint64_t value) { return Make(Kind::kUint, static_cast<std::int64_t>(value)); }
  static Value Double(double value);
  static Value String(std::string_view text) { return Text(Kind::kString, text); }
  static Value Bytes(std::string_view bytes) { return Text(Kind::kBytes, bytes); }
  static Value List(const ListData* list) { return Pointer(Kind::kList, list); }
  static Value List(Arena& arena, std::span<const Value> items);
  static Value Map(const MapData* map) { return Pointer(Kind::kMap, map); }
  static Value Dynamic(const DynamicMap* map) { return Pointer(Kind::kDynamicMap, map); }
  static Value Object(const MapData* fields, const Type* type) { return Pointer(Kind::kObject, fields, type); }
  /// Seconds since 1970, nanoseconds, and the offset east of UTC with which the time is printed.
  static Value Timestamp(std::int64_t seconds, std::int32_t nanos, std::int32_t offset = 0);
  static Value Duration(std::int64_t nanoseconds) { return Make(Kind::kDuration, nanoseconds); }
  static Value OfType(const Type* type) { return Pointer(Kind::kType, type); }
  static Value None() { return Pointer(Kind::kOptional, nullptr); }
  static Value Some(Arena& arena, Value value) { return Pointer(Kind::kOptional, arena.New<Value>(value)); }
  static Value Of(const Opaque* opaque) { return Pointer(Kind::kOpaque, opaque); }
  /// `text` must outlive the value.
  static Value Error(std::string_view text) { return Text(Kind::kError, text); }
  static Value Error(Arena& arena, std::string_view text) { return Text(Kind::kError, arena.Copy(text)); }
  static Value Unset() { return Make(Kind::kUnset, 0); }
  /// A view of `json`, which must outlive the value. Without a shape, numbers are ints if they are integral and doubles
  /// otherwise. `arena` holds what is decoded, e.g. bytes, and error texts.
  static Value FromJson(const boost::json::value& json, const Shape* shape, Arena& arena);
  static Value FromJson(const boost::json::value& json, Arena& arena) { return FromJson(json, nullptr, arena); }
  /// A view of a JSON object without a shape.
  static Value FromJson(const boost::json::object& json) { return Pointer(Kind::kJsonMap, &json); }
  /// A view of a JSON array without a shape.
  static Value FromJson(const boost::json::array& json) { return Pointer(Kind::kJsonList, &json); }
  /// A view of an object, whose shape is that of an object or map.
  static Value FromJson(const boost::json::object& object, const Shape& shape) {
    return Pointer(Kind::kJsonMap, &object, &shape);
  }

  Kind GetKind() const { return kind_; }
  bool Is(Kind kind) const { return kind_ == kind; }
  bool IsError() const { return kind_ == Kind::kError; }
  bool IsNumber() const { return kind_ == Kind::kInt || kind_ == Kind::kUint || kind_ == Kind::kDouble; }
  bool IsList() const { return kind_ == Kind::kList || kind_ == Kind::kJsonList; }
  bool IsMap() const { return kind_ == Kind::kMap || kind_ == Kind::kJsonMap || kind_ == Kind::kDynamicMap; }
  bool IsTrue() const { return kind_ == Kind::kBool && i_; }
  bool IsFalse() const { return kind_ == Kind::kBool && !i_; }

  // Each of these requires the matching kind.
  bool AsBool() const { return i_ != 0; }
  std::int64_t AsInt() const { return i_; }  // also the nanoseconds of a duration and the seconds of a timestamp
  std::uint64_t AsUint() const { return static_cast<std::uint64_t>(i_); }
  double AsDouble() const { return d_; }
  /// A text, bytes, or the text of an error.
  std::string_view AsString() const { return {s_, size_}; }
  std::int32_t Nanos() const { return static_cast<std::int32_t>(size_ & 0xffffffff); }
  std::int32_t Offset() const { return static_cast<std::int32_t>(size_ >> 32); }
  const Value* AsOptional() const { return static_cast<const Value*>(p_); }  // null: none
  const Opaque& AsOpaque() const { return *static_cast<const Opaque*>(p_); }
  const Type* AsType() const { return static_cast<const Type*>(p_); }
  const ListData* AsListData() const { return static_cast<const ListData*>(p_); }
  const MapData* AsMapData() const { return static_cast<const MapData*>(p_); }
  const DynamicMap* AsDynamic() const { return static_cast<const DynamicMap*>(p_); }
  const boost::json::array& AsJsonArray() const { return *static_cast<const boost::json::array*>(p_); }
  const boost::json::object& AsJsonObject() const { return *static_cast<const boost::json::object*>(p_); }
  const Shape* GetShape() const { return static_cast<const Shape*>(q_); }
  const Type* ObjectType() const { return static_cast<const Type*>(q_); }

 private:
  static Value Make(Kind kind, std::int64_t value) {
    Value out;
    out.kind_ = kind;
    out.i_ = value;
    return out;
  }
  static Value Text(Kind kind, std::string_view text) {
    Value out;
    out.kind_ = kind;
    out.s_ = text.data();
    out.size_ = text.size();
    return out;
  }
  static Value Pointer(Kind kind, const void* p, const void* q = nullptr) {
    Value out;
    out.kind_ = kind;
    out.p_ = p;
    out.q_ = q;
    return out;
  }

  Kind kind_ = Kind::kNull;
  union {
    std::int64_t i_;
    double d_;
    const char* s_;
    const void* p_;
  };
  union {
    std::uint64_t size_ = 0;
    const void* q_;
  };
};

struct MapEntry {
  Value key, value;
};

/// An error text without allocation.
Value NoSuchOverload();
/// A formatted error text in `arena`.
template <typename... Args>
Value Errorf(Arena& arena, fmt::format_string<Args...> format, Args&&... args) {
  return Value::Error(arena, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace apimesh::cel
