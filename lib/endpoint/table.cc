#include "lib/endpoint/table.h"

#include <boost/json/monotonic_resource.hpp>
#include <fmt/format.h>

#include "lib/codec/codec.h"
#include "lib/codec/json_parts.h"
#include "lib/endpoint/partial_metadata.h"
#include "lib/registry/table.h"

namespace apimesh::endpoint {
namespace {

namespace json = meta::json;

/// No column of a built-in kind shows who owns which field, which is a good part of an object.
const meta::FieldMask kShown = meta::FieldMask::AllBut({"metadata.managedFields"});

const registry::TablePrinter& PrinterOf(const ServedResource& served) {
  static const registry::TablePrinter kDefault = registry::DefaultTable();
  return served.resource.table.columns.empty() ? kDefault : served.resource.table;
}

/// Of an object, no more than cells may need: there are many rows in a table.
json::array Cells(const ServedResource& served, std::string_view text, meta::Ages& ages) {
  const registry::TablePrinter& printer = PrinterOf(served);
  const meta::FieldMask& reads = printer.reads.Everything() && !served.custom ? kShown : printer.reads;
  unsigned char memory[8192];
  json::monotonic_resource arena(memory, sizeof(memory));
  meta::Result<json::value> value = codec::ParseJsonParts(text, reads, &arena);
  const meta::Object object = value && value->is_object() ? meta::Object(std::move(value->get_object())) : meta::Object();
  return printer.cells(object, ages);
}

std::string_view ResourceVersionOf(std::string_view text) {
  const std::string_view version = codec::RawField(codec::RawField(text, "metadata").value_or(""), "resourceVersion").value_or("\"\"");
  return version.substr(1, version.size() - 2);
}

/// A row up to its object, and from when on it is another one.
storage::Entry::Timed RowHead(const ServedResource& served, std::string_view text, WallTime now) {
  meta::Ages ages(now);
  std::string head = "{\"cells\":";
  codec::AppendJson(head, Cells(served, text, ages));
  head += ",\"object\":";
  return {std::move(head), ages.Until()};
}

}  // namespace

void AppendTableRow(Pieces& out, const ResourceRequest& request, const storage::EntryPtr& entry, IncludeObject include) {
  const WallTime now = request.env->sources.clock->Now();
  const auto make = [&request, now](std::string_view text) { return RowHead(*request.served, text, now); };
  // An entry belongs to the store of one served version, and a changed definition has a new store: the name says enough.
  out.Shared(entry->EncodedAt(now, "table", make));
  switch (include) {
    case IncludeObject::kMetadata: AppendPartialMetadata(out, request, entry); break;
    case IncludeObject::kObject: out.Shared(entry, entry->JsonText()); break;
    case IncludeObject::kNone: out.Text("null"); break;
  }
  out.Text("}");
}

std::string TableRow(const ResourceRequest& request, std::string_view text, IncludeObject include) {
  std::string row = RowHead(*request.served, text, request.env->sources.clock->Now()).text;
  switch (include) {
    case IncludeObject::kMetadata: row += PartialMetadataOf(request, text); break;
    case IncludeObject::kObject: row += text; break;
    case IncludeObject::kNone: row += "null"; break;
  }
  row += '}';
  return row;
}

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

std::string TableOf(const ResourceRequest& request, std::string_view text, IncludeObject include, bool headers) {
  return fmt::format("{{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/{}\",\"metadata\":{{\"resourceVersion\":\"{}\"}},{},\"rows\":[{}]}}",
                     request.output.as_version, ResourceVersionOf(text),
                     headers ? TableColumns(*request.served) : "\"columnDefinitions\":null",
                     TableRow(request, text, include));
}

}  // namespace apimesh::endpoint
