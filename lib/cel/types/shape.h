#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/cel/types/type.h"

namespace apimesh::cel {

struct Shape;
using ShapeRef = std::shared_ptr<const Shape>;

/// How a JSON value that a schema describes appears to expressions: its type, how it is decoded, and how large it can
/// be. A JSON value without a shape is dynamic.
struct Shape {
  enum class Kind {
    kIntOrString,
    kObject,  // `fields`, by their escaped names; other fields are not visible
    kMap,     // `element`
    kList,    // `element`
    kString,
    kBytes,
    kTimestamp,
    kDate,
    kDuration,
    kInt,
    kDouble,
    kBool,
    kHidden,   // expressions can't name the value, but comparing its parent compares it
    kDynamic,  // any JSON value, as without a shape
  };
  enum class ListType { kAtomic, kSet, kMap };
  struct Field {
    std::string json_name;
    ShapeRef shape;
  };

  Kind kind = Kind::kDynamic;
  TypeRef type;  // null: kHidden
  bool nullable = false;
  ShapeRef element;
  std::map<std::string, Field, std::less<>> fields;                  // by escaped name
  std::map<std::string, ShapeRef, std::less<>> fields_by_json_name;  // also hidden ones
  ListType list_type = ListType::kAtomic;
  std::vector<std::string> list_keys;
  /// The largest number of code points, elements or entries; the smallest size in JSON.
  std::uint64_t max_elements = 0;
  std::uint64_t min_serialized_size = 2;
};

/// Whether a word can't be a variable: "namespace", "for", "in" …
bool IsReserved(std::string_view name);
/// An identifier of the language that stands for the name of a property: "a.b" is "a__dot__b", "namespace" is
/// "__namespace__". Returns nothing where the name can't be escaped.
std::optional<std::string> EscapeName(std::string_view name);
/// The inverse of EscapeName.
std::optional<std::string> UnescapeName(std::string_view identifier);

}  // namespace apimesh::cel
