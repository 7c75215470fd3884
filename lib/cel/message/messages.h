#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/cel/types/type.h"

namespace apimesh::cel {

/// A field of a protobuf message.
struct MessageField {
  std::string_view name;
  TypeRef type;
  /// What kube-apiserver's messages call the type into which a value is converted, e.g. int32 for an int.
  std::string_view native;
};

/// A message of google.protobuf that expressions can construct. Except for Empty, its value is a value of the language:
/// Int64Value{value: 1} is an int, Struct{} a map.
struct Message {
  std::string name;
  TypeRef type;
  std::vector<MessageField> fields;

  const MessageField* FindField(std::string_view field) const;
  /// Whether the name of the message denotes a type at run time.
  bool denotes_type = false;
};

/// Returns the message with this full name, or null.
const Message* FindMessage(std::string_view name);
/// The enum value google.protobuf.NullValue.NULL_VALUE, an int.
inline constexpr std::string_view kNullValue = "google.protobuf.NullValue.NULL_VALUE";

}  // namespace apimesh::cel
