#include "lib/codec/custom_resource.h"

#include "lib/codec/strict_path.h"
#include "lib/codec/zero_values.h"
#include "lib/schema/builtin.h"
#include "lib/schema/pruning.h"

namespace apimesh::codec {
namespace {

namespace json = meta::json;

/// Custom resources are maps to the reference: it writes all their keys sorted.
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

meta::Result<> CoerceMetadata(json::object& resource, const std::string& path, Strictness* strict) {
  static const schema::Node& object_meta = *schema::Builtin().Find("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");
  json::value* metadata = meta::FindField(resource, "metadata");
  if (!metadata) return {};
  if (!metadata->is_object()) return meta::BadRequest("metadata: Invalid value: must be an object");
  Strictness found;
  RETURN_IF_ERROR(Normalise(metadata->get_object(), object_meta, strict ? &found : nullptr));
  for (const std::string& complaint : found.complaints) {
    // unknown field "x" in the metadata of an embedded resource is named by its whole path.
    const std::size_t quote = complaint.find('"');
    strict->complaints.push_back(complaint.substr(0, quote + 1) + path + "metadata." + complaint.substr(quote + 1));
  }
  return {};
}

meta::Result<> CoerceEmbedded(json::value& value, const schema::Node& node, const std::string& path, Strictness* strict) {
  if (value.is_array() && node.type == schema::Type::kList) {
    std::size_t index = 0;
    for (json::value& element : value.get_array()) {
      RETURN_IF_ERROR(CoerceEmbedded(element, *node.items, fmt::format("{}[{}].", path.substr(0, path.size() - 1), index++), strict));
    }
  } else if (value.is_object()) {
    if (node.embedded_resource) RETURN_IF_ERROR(CoerceMetadata(value.get_object(), path, strict));
    for (auto& member : value.get_object()) {
      const schema::Field* field = node.FindField(member.key());
      const schema::Node* child = field ? field->schema : node.type != schema::Type::kList ? node.items : nullptr;
      if (child) RETURN_IF_ERROR(CoerceEmbedded(member.value(), *child, fmt::format("{}{}.", path, std::string_view(member.key())), strict));
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
  RETURN_IF_ERROR(CoerceMetadata(document, "", strict));
  const std::vector<std::string> unknown = schema::Prune(document, node);
  if (strict) {
    for (const std::string& path : unknown) AddComplaint(*strict, "unknown field", path);
  }
  for (auto& member : document) {
    const schema::Field* field = node.FindField(member.key());
    if (field && member.key() != "metadata") {
      RETURN_IF_ERROR(CoerceEmbedded(member.value(), *field->schema, std::string(member.key()) + ".", strict));
    }
    SortAllKeys(member.value());
  }
  const auto less = [](const auto& a, const auto& b) { return a.key() < b.key(); };
  if (!std::is_sorted(document.begin(), document.end(), less)) SortKeys(document);
  return {};
}

}  // namespace apimesh::codec
