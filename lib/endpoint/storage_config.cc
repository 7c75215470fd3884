#include "lib/endpoint/storage_config.h"

#include <fmt/format.h>

#include "lib/codec/codec.h"
#include "lib/schema/builtin.h"
#include "lib/schema/defaults.h"

namespace apimesh::endpoint {
namespace {

namespace json = meta::json;

using Rename = std::function<void(json::object&)>;

/// The data that is needed to read objects of other writers.
struct Served {
  meta::Gvk kind;
  const schema::Node* node;
  const schema::Node* stored_node;
  Rename rename;
  std::shared_ptr<const registry::Strategy> strategy;
};

meta::Result<> FromStored(meta::Object& object, const Served& served) {
  object.SetGvk(served.kind);
  if (served.rename) served.rename(object.Root());
  RETURN_IF_ERROR(codec::Normalise(object.Root(), *served.node, nullptr));
  schema::ApplyDefaults(object.Root(), *served.node);
  if (served.strategy) served.strategy->Default(object.Root());
  return codec::Normalise(object.Root(), *served.node, nullptr);
}

meta::Result<> ToStored(meta::Object& object, const meta::Gvk& stored, const schema::Node& node, const Rename& rename) {
  object.SetGvk(stored);
  if (!rename) return {};
  rename(object.Root());
  // A server of the stored version sends these bytes unchanged, so they must be as that version writes them.
  return codec::Normalise(object.Root(), node, nullptr);
}

const schema::Node& StoredNode(const registry::Resource& resource) {
  const schema::Node* node = schema::Builtin().FindKind(resource.storage_gvk);
  return node ? *node : *resource.schema;
}

/// Converts an object of another writer (protobuf, another version) to JSON of the served version. Defaults are
/// applied, as on every read of kube-apiserver, because the writer may be an older version and protobuf objects contain
/// no type.
meta::Result<std::string> ToServed(std::string_view stored, const Served& served) {
  meta::Object object;
  if (codec::IsProtobuf(stored)) {
    ASSIGN_OR_RETURN(object, codec::ReadProtobuf(stored, *served.stored_node, meta::NewArena()));
  } else {
    ASSIGN_OR_RETURN(json::value value, codec::ParseJson(stored, meta::NewArena()));
    if (!value.is_object()) return meta::InternalError("a stored object is not a JSON object");
    object = meta::Object(std::move(value.get_object()));
  }
  RETURN_IF_ERROR(FromStored(object, served));
  return codec::WriteJson(object.Root());
}

meta::Result<std::string> ToStoredText(std::string text, const meta::Gvk& stored, const schema::Node& node,
                                       const Rename& rename, StoredFormat format) {
  ASSIGN_OR_RETURN(json::value value, codec::ParseJson(text, meta::NewArena()));
  if (!value.is_object()) return meta::InternalError("an object is not a JSON object");
  meta::Object object(std::move(value.get_object()));
  RETURN_IF_ERROR(ToStored(object, stored, node, rename));
  return format == StoredFormat::kJson ? codec::WriteJson(object.Root()) : codec::WriteProtobuf(object.Root(), node);
}

}  // namespace

std::string TypePrefix(const meta::Gvk& gvk) {
  return fmt::format("{{\"kind\":\"{}\",\"apiVersion\":\"{}\",", gvk.kind, gvk.ApiVersion());
}

meta::Result<> ConvertVersion(meta::Object& object, const registry::Resource& from, const registry::Resource& to) {
  RETURN_IF_ERROR(ToStored(object, from.storage_gvk, StoredNode(from), from.to_stored));
  return FromStored(object, {to.gvk, to.schema, &StoredNode(to), to.from_stored, to.strategy});
}

storage::ResourceConfig StorageConfig(const registry::Resource& resource, StoredFormat format) {
  storage::ResourceConfig config;
  config.resource = resource.GetGroupResource();
  config.key_prefix = resource.storage_prefix;
  if (resource.storage_gvk.group != resource.gvk.group)
    config.stored_as = {resource.storage_gvk.group, resource.plural};
  config.namespaced = resource.scope == registry::Scope::kNamespaced;
  config.api_version = resource.gvk.ApiVersion();
  config.type_prefix = TypePrefix(resource.gvk);
  const schema::Node* const stored_node = &StoredNode(resource);
  const Served served{resource.gvk, resource.schema, stored_node, resource.from_stored, resource.strategy};
  config.to_json = [served](std::string_view stored) { return ToServed(stored, served); };
  if (resource.storage_gvk != resource.gvk || format != StoredFormat::kJson) {
    config.to_stored = [stored = resource.storage_gvk, stored_node, rename = resource.to_stored,
                        format](std::string text) {
      return ToStoredText(std::move(text), stored, *stored_node, rename, format);
    };
  }
  config.stored_api_version = resource.storage_gvk.ApiVersion();
  config.stored_as_protobuf = format != StoredFormat::kJson;
  config.selectable_fields = resource.selectable_fields;
  config.field_defaults = resource.field_defaults;
  config.read_fields = resource.read_fields;
  return config;
}

}  // namespace apimesh::endpoint
