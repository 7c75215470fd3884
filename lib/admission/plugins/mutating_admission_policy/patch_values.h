#pragma once

#include <string>

#include "lib/cel/value/value.h"
#include "lib/meta/object.h"

namespace apimesh::admission::mutating_policy {

/// A document that an expression has computed, or why it cannot be used.
template <class T>
struct Converted {
  T value;
  std::string error;  // "" if there is none
};

/// Converts the result of a JSONPatch expression, a list of JSONPatch objects, to the operations of a JSON patch.
Converted<meta::json::array> ToJsonPatch(const cel::Value& list, cel::Arena& arena);
/// Converts the result of an ApplyConfiguration expression, an Object, to a document.
Converted<meta::json::object> ToApplyConfiguration(const cel::Value& object, cel::Arena& arena);

}  // namespace apimesh::admission::mutating_policy
