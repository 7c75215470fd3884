#include "lib/patch/patch.h"

namespace apimesh::patch {

void ApplyMergePatch(meta::json::value& document, const meta::json::value& patch) {
  if (!patch.is_object()) {
    document = meta::json::value(patch, document.storage());
    return;
  }
  if (!document.is_object()) document.emplace_object();
  meta::json::object& object = document.get_object();
  meta::EraseFields(object, [&patch](std::string_view name, const meta::json::value&) {
    const meta::json::value* given = meta::FindField(patch.get_object(), name);
    return given && given->is_null();
  });
  for (const auto& [key, value] : patch.get_object()) {
    if (!value.is_null()) ApplyMergePatch(object[key], value);
  }
}

}  // namespace apimesh::patch
