#pragma once

#include <string_view>

#include "lib/cel/value/value.h"

namespace apimesh::cel {

/// Converts a value to the native type of a protobuf field ("int32", "[]uint8", "*structpb.Struct", …) and back, or
/// returns the error that kube-apiserver reports.
Value ToNative(const Value& value, std::string_view native, Arena& arena);
/// Converts a value to google.protobuf.Value and back: numbers become doubles, or texts if a double is not exact.
Value ToProtobufValue(const Value& value, Arena& arena);
/// The same for the entries of a map, with keys that become texts, and for the items of a list.
Value ToProtobufStruct(const Value& map, Arena& arena);
Value ToProtobufList(const Value& list, Arena& arena);

}  // namespace apimesh::cel
