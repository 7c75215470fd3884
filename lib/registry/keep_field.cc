#include "lib/registry/keep_field.h"

namespace apimesh::registry {

void KeepField(std::string_view field, meta::json::object& object, const meta::json::object& old) {
  const meta::json::value* value = meta::FindField(old, field);
  if (value) {
    object[meta::json::string_view(field.data(), field.size())] = *value;
  } else {
    meta::EraseField(object, field);
  }
}

}  // namespace apimesh::registry
