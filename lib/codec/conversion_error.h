#pragma once

#include <string>

#include "lib/meta/object.h"
#include "lib/schema/schema.h"

namespace apimesh::codec {

/// Returns the error of Go's converter from maps to structs (runtime.DefaultUnstructuredConverter) for the first field
/// of a wrong type. kube-apiserver uses it for the result of a strategic merge patch. Returns "" if all types are
/// right, or if the type of the field decodes its own JSON (times, quantities).
std::string ConversionError(const meta::json::object& document, const schema::Node& node);

}  // namespace apimesh::codec
