#include "lib/endpoint/table.h"

#include <fmt/format.h>

#include "lib/codec/codec.h"
#include "lib/endpoint/partial_metadata.h"
#include "lib/registry/table.h"

namespace apimesh::endpoint {
namespace {

namespace json = meta::json;

const registry::TablePrinter& PrinterOf(const ServedResource& served) {
  static const registry::TablePrinter kDefault = registry::DefaultTable();
  return served.resource.table.columns.empty() ? kDefault : served.resource.table;
}

meta::Object Parsed(std::string_view text) {
  meta::Result<json::value> value = codec::ParseJson(text, meta::NewArena());
  return value && value->is_object() ? meta::Object(std::move(value->get_object())) : meta::Object();
}

std::string RowOf(const ResourceRequest& request, const meta::Object& object, std::string_view text, IncludeObject include) {
  json::array cells = PrinterOf(*request.served).cells(object, request.env->sources.clock->Now());
  std::string row = "{\"cells\":" + codec::WriteJson(cells) + ",\"object\":";
  switch (include) {
    case IncludeObject::kMetadata: row += PartialMetadataOf(request, object); break;
    case IncludeObject::kObject: row += text; break;
    case IncludeObject::kNone: row += "null"; break;
  }
  return row + "}";
}

}  // namespace

meta::Result<IncludeObject> ParseIncludeObject(const Query& query) {
  const std::string_view text = query.First("includeObject");
  if (text.empty() || text == "Metadata") return IncludeObject::kMetadata;
  if (text == "None") return IncludeObject::kNone;
  if (text == "Object") return IncludeObject::kObject;
  return meta::BadRequest(
      fmt::format("Unable to convert to Table as requested: includeObject: Invalid value: {}: must be 'Metadata', 'Object', "
                  "'None', or empty",
                  meta::Quoted(text)));
}

std::string TableColumns(const ServedResource& served) {
  json::array columns;
  for (const registry::Column& column : PrinterOf(served).columns) {
    json::object& one = columns.emplace_back(json::object()).get_object();
    one["name"] = column.name;
    one["type"] = column.type;
    one["format"] = column.format;
    one["description"] = column.description;
    one["priority"] = column.priority;
  }
  return "\"columnDefinitions\":" + codec::WriteJson(columns);
}

std::string TableRow(const ResourceRequest& request, std::string_view text, IncludeObject include) {
  return RowOf(request, Parsed(text), text, include);
}

std::string TableOf(const ResourceRequest& request, std::string_view text, IncludeObject include, bool headers) {
  const meta::Object object = Parsed(text);
  return fmt::format("{{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/{}\",\"metadata\":{{\"resourceVersion\":\"{}\"}},{},\"rows\":[{}]}}",
                     request.output.as_version, object.ResourceVersion(),
                     headers ? TableColumns(*request.served) : "\"columnDefinitions\":null",
                     RowOf(request, object, text, include));
}

}  // namespace apimesh::endpoint
