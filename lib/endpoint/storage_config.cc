#include "lib/endpoint/storage_config.h"

#include <fmt/format.h>

#include "lib/codec/codec.h"
#include "lib/schema/builtin.h"
#include "lib/schema/defaults.h"

namespace apimesh::endpoint {
namespace {

namespace json = meta::json;

using Rename = std::function<void(json::object&)>;

/// What it takes to read values of other writers.
struct Served {
  meta::Gvk kind;
  const schema::Node* node;
  const schema::Node* stored_node;
  Rename rename;
  std::shared_ptr<const registry::Strategy> strategy;
};

/// What another writer left (protobuf, another version) as JSON of the served version. Defaults are applied, as on every read
/// of the reference: the writer may have been an older one, and protobuf has no types inside of objects.
meta::Result<std::string> ToServed(std::string_view stored, const Served& served) {
  meta::Object object;
  if (codec::IsProtobuf(stored)) {
    ASSIGN_OR_RETURN(object, codec::ReadProtobuf(stored, *served.stored_node, meta::NewArena()));
  } else {
    ASSIGN_OR_RETURN(json::value value, codec::ParseJson(stored, meta::NewArena()));
    if (!value.is_object()) return meta::InternalError("a stored object is not a JSON object");
    object = meta::Object(std::move(value.get_object()));
  }
  object.SetGvk(served.kind);
  if (served.rename) served.rename(object.Root());
  RETURN_IF_ERROR(codec::Normalise(object.Root(), *served.node, nullptr));
  schema::ApplyDefaults(object.Root(), *served.node);
  if (served.strategy) served.strategy->Default(object.Root());
  RETURN_IF_ERROR(codec::Normalise(object.Root(), *served.node, nullptr));
  return codec::WriteJson(object.Root());
}

meta::Result<std::string> ToStored(std::string text, const meta::Gvk& stored, const schema::Node& node, const Rename& rename) {
  ASSIGN_OR_RETURN(json::value value, codec::ParseJson(text, meta::NewArena()));
  if (!value.is_object()) return meta::InternalError("an object is not a JSON object");
  meta::Object object(std::move(value.get_object()));
  object.SetGvk(stored);
  if (rename) {
    rename(object.Root());
    // Whoever serves the stored version passes these bytes on: they have to be as that version writes them.
    RETURN_IF_ERROR(codec::Normalise(object.Root(), node, nullptr));
  }
  return codec::WriteJson(object.Root());
}

}  // namespace

std::string TypePrefix(const meta::Gvk& gvk) { return fmt::format("{{\"kind\":\"{}\",\"apiVersion\":\"{}\",", gvk.kind, gvk.ApiVersion()); }

storage::ResourceConfig StorageConfig(const registry::Resource& resource) {
  storage::ResourceConfig config;
  config.resource = resource.GetGroupResource();
  config.key_prefix = resource.storage_prefix;
  if (resource.storage_gvk.group != resource.gvk.group) config.stored_as = {resource.storage_gvk.group, resource.plural};
  config.namespaced = resource.scope == registry::Scope::kNamespaced;
  config.api_version = resource.gvk.ApiVersion();
  config.type_prefix = TypePrefix(resource.gvk);
  const schema::Node* stored_node = schema::Builtin().FindKind(resource.storage_gvk);
  if (!stored_node) stored_node = resource.schema;
  const Served served{resource.gvk, resource.schema, stored_node, resource.from_stored, resource.strategy};
  config.to_json = [served](std::string_view stored) { return ToServed(stored, served); };
  if (resource.storage_gvk != resource.gvk) {
    config.to_stored = [stored = resource.storage_gvk, stored_node, rename = resource.to_stored](std::string text) {
      return ToStored(std::move(text), stored, *stored_node, rename);
    };
  }
  config.selectable_fields = resource.selectable_fields;
  config.field_defaults = resource.field_defaults;
  config.read_fields = resource.read_fields;
  return config;
}

}  // namespace apimesh::endpoint
