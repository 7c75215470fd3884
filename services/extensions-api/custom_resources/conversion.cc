#include "services/extensions-api/custom_resources/conversion.h"

#include <fmt/format.h>

#include "lib/codec/codec.h"
#include "lib/meta/errors/other_errors.h"
#include "lib/patch/apply/typed.h"
#include "lib/schema/defaults.h"

namespace apimesh::extensions_api {
namespace {

namespace json = meta::json;

meta::Result<meta::Object> Parse(std::string_view text) {
  ASSIGN_OR_RETURN(json::value value, codec::ParseJson(text, meta::NewArena()));
  if (!value.is_object()) return meta::InternalError("a stored custom resource is not a JSON object");
  return meta::Object(std::move(value.get_object()));
}

/// Prunes an object to a schema and applies the defaults of the schema.
meta::Result<> FitToSchema(json::object& object, const schema::Node& node) {
  RETURN_IF_ERROR(codec::Normalise(object, node, nullptr));
  schema::ApplyDefaults(object, node);
  return {};
}

meta::Result<std::string> ToServed(std::string_view stored, const meta::Gvk& served, const VersionSchemas& versions) {
  ASSIGN_OR_RETURN(meta::Object object, Parse(stored));
  RETURN_IF_ERROR(ConvertToServed(object, served, versions));
  return codec::WriteJson(object.Root());
}

meta::Result<std::string> ToStored(std::string text, const meta::Gvk& stored) {
  ASSIGN_OR_RETURN(meta::Object object, Parse(text));
  object.Root()["apiVersion"] = stored.ApiVersion();
  return codec::WriteJson(object.Root());
}

/// Reads a stored object as its version has it. An object of an unknown version cannot be converted.
meta::Result<meta::Object> ReadStored(std::string_view text, const VersionSchemas& versions) {
  ASSIGN_OR_RETURN(meta::Object object, Parse(text));
  const auto stored = versions.find(meta::GroupVersion::Parse(object.ApiVersion()).version);
  if (stored == versions.end()) {
    return meta::PlainError(
        fmt::format("request to convert CR from an invalid group/version: {}", object.ApiVersion()));
  }
  RETURN_IF_ERROR(FitToSchema(object.Root(), *stored->second));
  // Moves defaults to their position in the field order.
  RETURN_IF_ERROR(codec::Normalise(object.Root(), *stored->second, nullptr));
  return object;
}

Task<meta::Result<std::vector<std::string>>> ReadByWebhook(WebhookConversion conversion, meta::Gvk served,
                                                           std::vector<std::string> stored) {
  std::vector<meta::Object> objects;
  objects.reserve(stored.size());
  for (const std::string& text : stored) {
    ASSIGN_OR_CO_RETURN(meta::Object object, ReadStored(text, conversion.versions));
    objects.push_back(std::move(object));
  }
  ASSIGN_OR_CO_RETURN(std::vector<meta::Object> converted,
                      co_await conversion.converter->Convert(std::move(objects), served));
  std::vector<std::string> texts;
  texts.reserve(converted.size());
  for (meta::Object& object : converted) {
    CO_RETURN_IF_ERROR(codec::Normalise(object.Root(), *conversion.versions.at(served.version), nullptr));
    texts.push_back(codec::WriteJson(object.Root()));
  }
  co_return texts;
}

Task<meta::Result<std::string>> WriteByWebhook(WebhookConversion conversion, meta::Gvk stored, std::string text) {
  ASSIGN_OR_CO_RETURN(meta::Object object, Parse(text));
  ASSIGN_OR_CO_RETURN(const meta::Object converted,
                      co_await ConvertByWebhook(std::move(conversion), std::move(object), std::move(stored)));
  co_return codec::WriteJson(converted.Root());
}

std::shared_ptr<const storage::SuspendingConversion> SuspendingConversionOf(const registry::Resource& resource,
                                                                            const WebhookConversion& conversion) {
  auto made = std::make_shared<storage::SuspendingConversion>();
  made->read = [conversion, served = resource.gvk](std::vector<std::string> stored) {
    return ReadByWebhook(conversion, served, std::move(stored));
  };
  if (resource.storage_gvk != resource.gvk) {
    made->write = [conversion, stored = resource.storage_gvk](std::string text) {
      return WriteByWebhook(conversion, stored, std::move(text));
    };
  }
  return made;
}

}  // namespace

meta::Result<> ConvertToServed(meta::Object& object, const meta::Gvk& served, const VersionSchemas& versions) {
  const schema::Node& node = *versions.at(served.version);
  const auto stored = versions.find(meta::GroupVersion::Parse(object.ApiVersion()).version);
  RETURN_IF_ERROR(FitToSchema(object.Root(), stored == versions.end() ? node : *stored->second));
  object.SetGvk(served);
  // Prunes the object to the served version, and moves defaults to their position in the field order.
  return codec::Normalise(object.Root(), node, nullptr);
}

Task<meta::Result<meta::Object>> ConvertByWebhook(WebhookConversion conversion, meta::Object object, meta::Gvk kind) {
  std::vector<meta::Object> one;
  one.push_back(std::move(object));
  ASSIGN_OR_CO_RETURN(std::vector<meta::Object> converted,
                      co_await conversion.converter->Convert(std::move(one), kind));
  meta::Object& result = converted.front();
  CO_RETURN_IF_ERROR(codec::Normalise(result.Root(), *conversion.versions.at(kind.version), nullptr));
  co_return std::move(result);
}

Task<meta::Result<std::optional<patch::ManagerInfo::View>>> ConvertForFields(WebhookConversion conversion,
                                                                             meta::Object object,
                                                                             std::string api_version) {
  const meta::GroupVersion wanted = meta::GroupVersion::Parse(api_version);
  const meta::Gvk from = object.GetGvk();
  const auto version = conversion.versions.find(wanted.version);
  if (version == conversion.versions.end() || wanted.group != from.group)
    co_return std::optional<patch::ManagerInfo::View>();
  std::vector<meta::Object> one;
  one.push_back(std::move(object));
  const meta::Gvk desired{wanted.group, wanted.version, from.kind};
  ASSIGN_OR_CO_RETURN(std::vector<meta::Object> converted,
                      co_await conversion.converter->Convert(std::move(one), desired));
  meta::Object& result = converted.front();
  // Here kube-apiserver does not prune: a field that the version does not have is an error.
  const patch::TypeErrors errors = patch::ValidateTypes(*version->second, result.Root(), true);
  if (!errors.empty()) co_return meta::PlainError(patch::ToString(errors));
  CO_RETURN_IF_ERROR(codec::Normalise(result.Root(), *version->second, nullptr));
  co_return std::optional<patch::ManagerInfo::View>({version->second, std::move(result)});
}

storage::ResourceConfig CustomStorageConfig(const registry::Resource& resource, VersionSchemas versions,
                                            std::shared_ptr<const schema::Schema> schemas,
                                            WebhookConverterPtr converter) {
  storage::ResourceConfig config;
  config.resource = resource.GetGroupResource();
  config.key_prefix = resource.storage_prefix;
  config.namespaced = resource.scope == registry::Scope::kNamespaced;
  config.selectable_fields = resource.selectable_fields;
  if (converter) {
    config.conversion = SuspendingConversionOf(resource, {std::move(converter), std::move(versions), schemas});
    return config;
  }
  config.stored_api_version = resource.storage_gvk.ApiVersion();
  config.api_version = "-";  // matches no object, so all of them are converted by to_json
  config.to_json = [served = resource.gvk, versions = std::move(versions), schemas](std::string_view stored) {
    return ToServed(stored, served, versions);
  };
  if (resource.storage_gvk != resource.gvk) {
    config.to_stored = [stored = resource.storage_gvk](std::string text) { return ToStored(std::move(text), stored); };
  }
  return config;
}

}  // namespace apimesh::extensions_api
