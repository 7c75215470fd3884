#pragma once

#include <string_view>

#include "lib/meta/selectors/selector.h"

namespace apimesh::meta {

/// Returns the name of the operator in the JSON of a selector requirement, such as "NotIn".
constexpr std::string_view OperatorName(Requirement::Op op) {
  switch (op) {
    case Requirement::Op::kIn: return "In";
    case Requirement::Op::kNotIn: return "NotIn";
    case Requirement::Op::kExists: return "Exists";
    case Requirement::Op::kDoesNotExist: return "DoesNotExist";
    case Requirement::Op::kGreaterThan: return "Gt";
    case Requirement::Op::kLessThan: return "Lt";
  }
  return "";
}

}  // namespace apimesh::meta
