#include "lib/registry/object_meta.h"

#include <algorithm>

namespace apimesh::registry {
namespace {

namespace json = meta::json;

const json::array* ArrayAt(const json::object& parent, std::string_view name) {
  const json::value* value = meta::FindField(parent, name);
  return value ? value->if_array() : nullptr;
}

}  // namespace

std::vector<std::string> Finalizers(const meta::Object& object) {
  std::vector<std::string> finalizers;
  if (const json::array* values = ArrayAt(object.Metadata(), "finalizers")) {
    for (const json::value& value : *values) {
      if (value.is_string()) finalizers.emplace_back(value.get_string());
    }
  }
  return finalizers;
}

void SetFinalizers(meta::Object& object, const std::vector<std::string>& finalizers) {
  if (finalizers.empty()) {
    object.EraseMeta("finalizers");
    return;
  }
  json::array values;
  for (const std::string& finalizer : finalizers) values.emplace_back(finalizer);
  object.Metadata()["finalizers"] = std::move(values);
}

meta::Result<> MatchNamespace(meta::Object& object, std::string_view request_namespace) {
  const std::string_view ns = object.Namespace();
  if (ns == request_namespace) return {};
  if (request_namespace.empty()) {
    object.EraseMeta("namespace");
  } else if (ns.empty()) {
    object.SetMeta("namespace", request_namespace);
  } else {
    return meta::BadRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  return {};
}

std::vector<std::string> RemoveDuplicateOwners(meta::Object& object) {
  std::vector<std::string> removed;
  json::value* value = meta::Find(object.Root(), "metadata", "ownerReferences");
  if (!value || !value->is_array()) return removed;
  json::array& owners = value->get_array();
  for (std::size_t i = 0; i < owners.size();) {
    if (std::find(owners.begin(), owners.begin() + static_cast<std::ptrdiff_t>(i), owners[i]) !=
        owners.begin() + static_cast<std::ptrdiff_t>(i)) {
      removed.emplace_back(owners[i].is_object() ? meta::FindString(owners[i].get_object(), "uid") : std::string_view());
      owners.erase(owners.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
  return removed;
}

}  // namespace apimesh::registry
