#pragma once

#include <string>
#include <string_view>

#include "lib/meta/object.h"
#include "lib/schema/schema.h"

/// Values as Go's fmt prints them; some error messages contain complete documents in this format.
namespace apimesh::patch {

/// %v: "map[a:1 b:[x y]]", keys sorted.
std::string GoText(const meta::json::value& value);
/// The Go type of a decoded value: "map[string]interface {}", "string", …
std::string_view GoTypeOf(const meta::json::value& value);
/// The Go name of a definition: "Container".
std::string GoTypeName(const schema::Node& node);

}  // namespace apimesh::patch
