#pragma once

#include <map>
#include <memory>
#include <string>

namespace apimesh::cel {

/// What is known of a value before it is there. kDyn: nothing, everything is allowed and checked when it runs.
struct Type {
  enum class Kind {
    kDyn,
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
    kObject
  };
  using Fields = std::map<std::string, Type>;

  Kind kind = Kind::kDyn;
  std::shared_ptr<const Type> element;   // of a list, an optional, or a map's values; null: anything
  std::shared_ptr<const Fields> fields;  // of an object: these and no others
  std::string name;                      // of an object, for messages

  static Type Of(Kind kind) { return {kind, nullptr, nullptr, ""}; }
  static Type ListOf(Type element) {
    return {Kind::kList, std::make_shared<const Type>(std::move(element)), nullptr, ""};
  }
  static Type MapOf(Type value) { return {Kind::kMap, std::make_shared<const Type>(std::move(value)), nullptr, ""}; }
  static Type Object(std::string name, Fields fields) {
    return {Kind::kObject, nullptr, std::make_shared<const Fields>(std::move(fields)), std::move(name)};
  }

  /// As messages show it: "list(string)".
  std::string ToString() const;
};

}  // namespace apimesh::cel
