#pragma once

#include <string>
#include <string_view>

#include "lib/meta/errors/api_error.h"
#include "lib/meta/gvk.h"
#include "lib/meta/object.h"
#include "lib/schema/schema.h"
#include "services/object-check/definitions.h"
#include "services/object-check/report.h"
#include "services/object-check/stored_resources.h"

namespace apimesh::object_check {

/// What a key of an API server's store belongs to, by its path below the prefix of all objects.
struct Location {
  const StoredResource* builtin = nullptr;
  const Definitions::CustomResource* custom = nullptr;
  bool internal = false;         // a record of API servers that is not an object
  meta::GroupResource resource;  // the name for encryption and for the report
  std::string prefix;            // the part of the path before the names: "services/specs"
};
/// Decodes a value, JSON or protobuf, with the schema of its kind.
meta::Result<meta::Object> Decode(std::string_view value, const schema::Node& node);

Location Locate(std::string_view path, const Definitions& definitions);

/// Checks one decrypted object and adds what is wrong with it to the report. Reads it as the servers do: by the schema
/// of its built-in kind, or by its definition.
void CheckObject(const Location& location, std::string_view path, std::string_view value, Report& report);

}  // namespace apimesh::object_check
