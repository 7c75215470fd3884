#include "services/extensions-api/custom_resources/conversion.h"

#include "lib/codec/codec.h"
#include "lib/schema/defaults.h"

namespace apimesh::extensions_api {
namespace {

namespace json = meta::json;

meta::Result<meta::Object> Parse(std::string_view text) {
  ASSIGN_OR_RETURN(json::value value, codec::ParseJson(text, meta::NewArena()));
  if (!value.is_object()) return meta::InternalError("a stored custom resource is not a JSON object");
  return meta::Object(std::move(value.get_object()));
}

meta::Result<std::string> ToServed(std::string_view stored, const meta::Gvk& served, const schema::Node& node) {
  ASSIGN_OR_RETURN(meta::Object object, Parse(stored));
  object.SetGvk(served);
  RETURN_IF_ERROR(codec::Normalise(object.Root(), node, nullptr));
  schema::ApplyDefaults(object.Root(), node);
  RETURN_IF_ERROR(codec::Normalise(object.Root(), node, nullptr));  // defaults into their place
  return codec::WriteJson(object.Root());
}

meta::Result<std::string> ToStored(std::string text, const meta::Gvk& stored) {
  ASSIGN_OR_RETURN(meta::Object object, Parse(text));
  object.Root()["apiVersion"] = stored.ApiVersion();
  return codec::WriteJson(object.Root());
}

}  // namespace

storage::ResourceConfig CustomStorageConfig(const registry::Resource& resource, std::shared_ptr<const schema::Schema> schemas) {
  storage::ResourceConfig config;
  config.resource = resource.GetGroupResource();
  config.key_prefix = resource.storage_prefix;
  config.namespaced = resource.scope == registry::Scope::kNamespaced;
  config.api_version = "-";  // no object says so: all of them go through to_json
  config.to_json = [served = resource.gvk, node = resource.schema, schemas](std::string_view stored) { return ToServed(stored, served, *node); };
  if (resource.storage_gvk != resource.gvk) {
    config.to_stored = [stored = resource.storage_gvk](std::string text) { return ToStored(std::move(text), stored); };
  }
  config.selectable_fields = resource.selectable_fields;
  return config;
}

}  // namespace apimesh::extensions_api
