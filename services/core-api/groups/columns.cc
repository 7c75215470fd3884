#include "services/core-api/groups/columns.h"

#include "lib/meta/time.h"

namespace apimesh::core_api {

registry::Column NameColumn() {
  return {.name = "Name", .format = "name", .description = "Name of the object, unique in its namespace."};
}

registry::Column AgeColumn() { return {.name = "Age", .description = "Time since the object was made."}; }

meta::json::value AgeCell(const meta::Object& object, WallTime now) {
  return meta::json::string(meta::HumanAge(meta::FindString(object.Metadata(), "creationTimestamp"), now));
}

}  // namespace apimesh::core_api
