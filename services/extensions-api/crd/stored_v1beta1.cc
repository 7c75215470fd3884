#include "services/extensions-api/crd/stored_v1beta1.h"

#include <optional>

namespace apimesh::extensions_api {
namespace {

namespace json = meta::json;

std::optional<json::value> Take(json::object& object, std::string_view key) {
  json::value* const found = object.if_contains(key);
  if (!found) return std::nullopt;
  json::value taken = std::move(*found);
  object.erase(key);
  if (taken.is_null()) return std::nullopt;
  return taken;
}

void RenameColumns(json::value& columns) {
  if (!columns.is_array()) return;
  for (json::value& column : columns.get_array()) {
    if (!column.is_object()) continue;
    if (auto path = Take(column.get_object(), "JSONPath")) column.get_object()["jsonPath"] = std::move(*path);
  }
}

void NestWebhook(json::object& spec) {
  json::value* const conversion = spec.if_contains("conversion");
  if (!conversion || !conversion->is_object()) return;
  auto client_config = Take(conversion->get_object(), "webhookClientConfig");
  auto review_versions = Take(conversion->get_object(), "conversionReviewVersions");
  if (!client_config && !review_versions) return;
  json::object& webhook = meta::MakeObject(conversion->get_object(), "webhook");
  if (client_config) webhook["clientConfig"] = std::move(*client_config);
  if (review_versions) webhook["conversionReviewVersions"] = std::move(*review_versions);
}

}  // namespace

void FromStoredV1beta1(json::object& root) {
  json::value* const found = root.if_contains("spec");
  if (!found || !found->is_object()) return;
  json::object& spec = found->get_object();
  const auto version = Take(spec, "version");
  json::value& versions = spec["versions"];
  if (!versions.is_array()) versions.emplace_array();
  if (versions.get_array().empty() && version) {
    versions.get_array().push_back(
        json::object({{"name", *version}, {"served", true}, {"storage", true}}, versions.storage()));
  }
  static constexpr std::pair<std::string_view, std::string_view> kMoved[] = {
      {"validation", "schema"},
      {"subresources", "subresources"},
      {"additionalPrinterColumns", "additionalPrinterColumns"},
      {"selectableFields", "selectableFields"}};
  for (const auto& [above, own] : kMoved) {
    const auto shared = Take(spec, above);
    if (!shared) continue;
    for (json::value& one : versions.get_array()) {
      if (one.is_object()) one.get_object()[own] = *shared;
    }
  }
  for (json::value& one : versions.get_array()) {
    if (!one.is_object()) continue;
    if (json::value* const columns = one.get_object().if_contains("additionalPrinterColumns")) RenameColumns(*columns);
  }
  NestWebhook(spec);
  // `false` is the only value that new v1 definitions may have, so it is omitted. `true` remains visible.
  if (const json::value* const preserve = spec.if_contains("preserveUnknownFields");
      preserve && *preserve == json::value(false)) {
    spec.erase("preserveUnknownFields");
  }
}

}  // namespace apimesh::extensions_api
