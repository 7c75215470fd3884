#include "lib/registry/object_meta.h"

#include <algorithm>
#include <deque>

#include "lib/base/text/text_index.h"
#include "lib/meta/json_text.h"

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
  if (owners.size() < 2) return removed;
  // The JSON texts are indexed, because an object may have tens of thousands of owners that differ in only one field.
  std::deque<std::string> texts;
  TextIndex seen;
  const auto is_repeated = [&](const json::value& owner) {
    meta::AppendJsonText(texts.emplace_back(), owner);
    if (seen.Add(texts.back()).is_new) return false;
    texts.pop_back();
    removed.emplace_back(owner.is_object() ? meta::FindString(owner.get_object(), "uid") : std::string_view());
    return true;
  };
  const auto first_repeated = std::find_if(owners.begin(), owners.end(), is_repeated);
  if (first_repeated == owners.end()) return removed;
  auto keep = first_repeated;
  for (auto it = first_repeated + 1; it != owners.end(); ++it) {
    if (!is_repeated(*it)) *keep++ = std::move(*it);
  }
  owners.erase(keep, owners.end());
  return removed;
}

}  // namespace apimesh::registry
