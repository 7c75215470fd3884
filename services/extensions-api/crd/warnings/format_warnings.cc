#include "services/extensions-api/crd/warnings/format_warnings.h"

#include <set>

#include <fmt/format.h>

#include "lib/schema/values/formats.h"
#include "services/extensions-api/crd/version_rules.h"

namespace apimesh::extensions_api {
namespace {

namespace json = meta::json;

/// Adds the unknown formats of a schema and of the schemas in it. The parser limits the depth of a document.
void Collect(const json::value* schema, std::set<std::string>& formats) {
  if (!schema || !schema->is_object()) return;
  const json::object& node = schema->get_object();
  const std::string_view format = meta::FindString(node, "format");
  if (!format.empty() && schema::FindFormat(meta::FindString(node, "type"), format) == schema::Format::kNone)
    formats.emplace(format);
  for (const char* word : {"items", "additionalProperties", "not"}) Collect(meta::FindField(node, word), formats);
  for (const char* word : {"allOf", "anyOf", "oneOf"}) {
    const json::value* list = meta::FindField(node, word);
    if (!list || !list->is_array()) continue;
    for (const json::value& one : list->get_array()) Collect(&one, formats);
  }
  const json::value* properties = meta::FindField(node, "properties");
  if (!properties || !properties->is_object()) return;
  for (const auto& [name, property] : properties->get_object()) Collect(&property, formats);
}

std::set<std::string> UnknownFormats(const meta::Object& crd) {
  std::set<std::string> formats;
  for (const json::object* version : Versions(crd)) Collect(meta::Find(*version, "schema", "openAPIV3Schema"), formats);
  return formats;
}

}  // namespace

std::vector<std::string> FormatWarnings(const meta::Object& crd, const meta::Object* old) {
  const std::set<std::string> before = old ? UnknownFormats(*old) : std::set<std::string>();
  std::vector<std::string> warnings;
  for (const std::string& format : UnknownFormats(crd)) {
    if (!before.contains(format)) warnings.push_back(fmt::format("unrecognized format {}", meta::Quoted(format)));
  }
  return warnings;
}

}  // namespace apimesh::extensions_api
