#pragma once

#include "lib/cel/types/type.h"
#include "lib/cel/value/value.h"

namespace apimesh::cel {

/// The type of a value at run time: the elements of lists and maps are dynamic.
const Type* TypeOfValue(const Value& value);

}  // namespace apimesh::cel
