#include "services/extensions-api/crd/not_enforced.h"

#include "lib/registry/not_enforced.h"

namespace apimesh::extensions_api {
namespace {

namespace json = meta::json;

/// Whether the schema or one inside it has rules. The depth of a document is limited when it is parsed.
bool HasRules(const json::value* schema) {
  if (!schema || !schema->is_object()) return false;
  const json::object& node = schema->get_object();
  const json::value* rules = meta::FindField(node, "x-kubernetes-validations");
  if (rules && rules->is_array() && !rules->get_array().empty()) return true;
  if (HasRules(meta::FindField(node, "items")) || HasRules(meta::FindField(node, "additionalProperties"))) return true;
  const json::value* properties = meta::FindField(node, "properties");
  if (!properties || !properties->is_object()) return false;
  for (const auto& [name, property] : properties->get_object()) {
    if (HasRules(&property)) return true;
  }
  return false;
}

bool AnyVersionHasRules(const meta::Object& crd) {
  const json::value* versions = meta::Find(crd.Root(), "spec", "versions");
  if (!versions || !versions->is_array()) return false;
  for (const json::value& version : versions->get_array()) {
    if (version.is_object() && HasRules(meta::Find(version.get_object(), "schema", "openAPIV3Schema"))) return true;
  }
  return false;
}

}  // namespace

std::vector<std::string> NotEnforcedParts(const meta::Object& crd) {
  std::vector<std::string> warnings;
  if (AnyVersionHasRules(crd)) warnings.push_back(registry::NotEnforced("x-kubernetes-validations rules"));
  if (meta::FindString(crd.Root(), "spec", "conversion", "strategy") == "Webhook") {
    warnings.push_back(registry::NotEnforced("conversion webhooks"));
  }
  return warnings;
}

}  // namespace apimesh::extensions_api
