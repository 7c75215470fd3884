#pragma once

#include <map>

#include "lib/registry/resource.h"
#include "lib/storage/store.h"
#include "services/extensions-api/conversion_webhook/converter.h"

namespace apimesh::extensions_api {

/// The schemas of a definition by the name of the version.
using VersionSchemas = std::map<std::string, const schema::Node*, std::less<>>;

/// Converts an object in any version of its definition to a served version, as a reader of the stored object sees it:
/// the object is pruned and defaulted by the schema of its version, then pruned by that of the served version. The
/// conversion itself is "None": only apiVersion changes.
meta::Result<> ConvertToServed(meta::Object& object, const meta::Gvk& served, const VersionSchemas& versions);

/// Converts objects of one definition by its webhook. `schemas` owns `versions`.
struct WebhookConversion {
  WebhookConverterPtr converter;
  VersionSchemas versions;
  std::shared_ptr<const schema::Schema> schemas;
};

/// Converts an object to another version of its definition, which exists.
Task<meta::Result<meta::Object>> ConvertByWebhook(WebhookConversion conversion, meta::Object object, meta::Gvk kind);

/// Converts an object to another version of its definition, for managedFields. Returns nullopt if that version does not
/// exist.
Task<meta::Result<std::optional<patch::ManagerInfo::View>>> ConvertForFields(WebhookConversion conversion,
                                                                             meta::Object object,
                                                                             std::string api_version);

/// Returns how objects of a custom resource are stored: as JSON of the storage version. Objects that are read are
/// pruned and defaulted, because the definition may have changed since they were written. `schemas` owns `versions`.
/// `converter` is nullptr if the definition has no conversion webhook.
storage::ResourceConfig CustomStorageConfig(const registry::Resource& resource, VersionSchemas versions,
                                            std::shared_ptr<const schema::Schema> schemas,
                                            WebhookConverterPtr converter);

}  // namespace apimesh::extensions_api
