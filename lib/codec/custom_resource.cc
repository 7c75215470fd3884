#include "lib/codec/custom_resource.h"

#include "lib/codec/strict_path.h"
#include "lib/codec/zero_values.h"
#include "lib/meta/errors/path_chain.h"
#include "lib/schema/builtin.h"
#include "lib/schema/pruning.h"

namespace apimesh::codec {
namespace {

namespace json = meta::json;
using meta::PathChain;

/// Sorts all keys, because kube-apiserver represents custom resources as maps.
void SortAllKeys(json::value& value) {
  if (value.is_array()) {
    for (json::value& element : value.get_array()) SortAllKeys(element);
  } else if (value.is_object()) {
    json::object& object = value.get_object();
    for (auto& member : object) SortAllKeys(member.value());
    const auto less = [](const auto& a, const auto& b) { return a.key() < b.key(); };
    if (!std::is_sorted(object.begin(), object.end(), less)) SortKeys(object);
  }
}

meta::Result<> CoerceMetadata(json::object& resource, const PathChain& path, Strictness* strict) {
  static const schema::Node& object_meta = *schema::Builtin().Find("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");
  json::value* metadata = meta::FindField(resource, "metadata");
  if (!metadata) return {};
  if (!metadata->is_object()) return meta::BadRequest("metadata: Invalid value: must be an object");
  Strictness found;
  RETURN_IF_ERROR(Normalise(metadata->get_object(), object_meta, strict && strict->WantsMore() ? &found : nullptr));
  if (found.complaints.empty()) return {};
  const std::string place = path.Child("metadata").ToString();
  for (const std::string& complaint : found.complaints) {
    // Prepends the path of the embedded resource to the field name in the complaint.
    const std::size_t quote = complaint.find('"');
    strict->complaints.push_back(
        fmt::format("{}{}.{}", complaint.substr(0, quote + 1), place, complaint.substr(quote + 1)));
    strict->path_bytes += strict->complaints.back().size();
  }
  return {};
}

meta::Result<> CoerceEmbedded(json::value& value, const schema::Node& node, const PathChain& path, Strictness* strict) {
  if (value.is_array() && node.type == schema::Type::kList) {
    std::size_t index = 0;
    for (json::value& element : value.get_array())
      RETURN_IF_ERROR(CoerceEmbedded(element, *node.items, path.Index(index++), strict));
  } else if (value.is_object()) {
    if (node.embedded_resource) RETURN_IF_ERROR(CoerceMetadata(value.get_object(), path, strict));
    for (auto& member : value.get_object()) {
      const schema::Field* field = node.FindField(member.key());
      const schema::Node* child = field ? field->schema : node.type != schema::Type::kList ? node.items : nullptr;
      if (child) RETURN_IF_ERROR(CoerceEmbedded(member.value(), *child, path.Child(member.key()), strict));
    }
  }
  return {};
}

}  // namespace

meta::Result<> NormaliseCustomResource(json::object& document, const schema::Node& node, Strictness* strict) {
  for (const char* name : {"apiVersion", "kind"}) {
    const json::value* value = meta::FindField(document, name);
    if (value && !value->is_string()) return meta::BadRequest(fmt::format("{}: Invalid value: must be a string", name));
  }
  const PathChain root;
  RETURN_IF_ERROR(CoerceMetadata(document, root, strict));
  const std::vector<std::string> unknown = schema::Prune(document, node);
  if (strict) {
    for (const std::string& path : unknown) AddComplaint(*strict, "unknown field", path);
  }
  for (auto& member : document) {
    const schema::Field* field = node.FindField(member.key());
    if (field && member.key() != "metadata") {
      RETURN_IF_ERROR(CoerceEmbedded(member.value(), *field->schema, root.Child(member.key()), strict));
    }
    SortAllKeys(member.value());
  }
  const auto less = [](const auto& a, const auto& b) { return a.key() < b.key(); };
  if (!std::is_sorted(document.begin(), document.end(), less)) SortKeys(document);
  return {};
}

}  // namespace apimesh::codec
