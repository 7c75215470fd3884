#include "lib/endpoint/output/table.h"

#include <boost/json/monotonic_resource.hpp>
#include <fmt/format.h>

#include "lib/codec/codec.h"
#include "lib/codec/json/json_parts.h"
#include "lib/endpoint/output/partial_metadata.h"
#include "lib/registry/table.h"

namespace apimesh::endpoint {
namespace {

namespace json = meta::json;

/// No column of a built-in kind shows managedFields, which is a large part of an object.
const meta::FieldMask kShown = meta::FieldMask::AllBut({"metadata.managedFields"});

const registry::TablePrinter& PrinterOf(const ServedResource& served) {
  static const registry::TablePrinter kDefault = registry::DefaultTable();
  return served.resource.table.columns.empty() ? kDefault : served.resource.table;
}

/// Calls `use` with the printer and the object. It parses only the fields that the printer reads, because a table has
/// many rows.
template <class Use>
auto WithObject(const ServedResource& served, std::string_view text, Use use) {
  const registry::TablePrinter& printer = PrinterOf(served);
  const meta::FieldMask& reads = printer.reads.Everything() && !served.custom ? kShown : printer.reads;
  unsigned char memory[8192];
  json::monotonic_resource arena(memory, sizeof(memory));
  meta::Result<json::value> value = codec::ParseJsonParts(text, reads, &arena);
  const meta::Object object =
      value && value->is_object() ? meta::Object(std::move(value->get_object())) : meta::Object();
  return use(printer, object);
}

std::string_view ResourceVersionOf(std::string_view text) {
  const std::string_view version =
      codec::RawField(codec::RawField(text, "metadata").value_or(""), "resourceVersion").value_or("\"\"");
  return version.substr(1, version.size() - 2);
}

/// Returns a row up to its object, and the time until which it is valid.
storage::Entry::Timed RowHead(const ServedResource& served, std::string_view text, WallTime now) {
  meta::Ages ages(now);
  std::string head = "{\"cells\":";
  WithObject(served, text, [&](const registry::TablePrinter& printer, const meta::Object& object) {
    codec::AppendJson(head, printer.cells(object, ages));
    const json::array conditions = printer.conditions ? printer.conditions(object) : json::array();
    if (conditions.empty()) return;
    head += ",\"conditions\":";
    codec::AppendJson(head, conditions);
  });
  head += ",\"object\":";
  return {std::move(head), ages.Until()};
}

}  // namespace

void AppendTableRow(Pieces& out, const ResourceRequest& request, const storage::EntryPtr& entry,
                    IncludeObject include) {
  const WallTime now = request.env->sources.clock->Now();
  const auto make = [&request, now](std::string_view text) { return RowHead(*request.served, text, now); };
  // The key "table" is sufficient: an entry belongs to the store of one served version, and a changed definition has a
  // new store.
  out.Shared(entry->EncodedAt(now, "table", make));
  switch (include) {
    case IncludeObject::kMetadata: AppendPartialMetadata(out, request, entry); break;
    case IncludeObject::kObject: out.Shared(entry, entry->JsonText()); break;
    case IncludeObject::kNone: out.Text("null"); break;
  }
  out.Text("}");
}

bool SortsRows(const ServedResource& served) { return static_cast<bool>(PrinterOf(served).order); }

std::int64_t RowOrder(const ServedResource& served, std::string_view text) {
  return WithObject(served, text, [](const registry::TablePrinter& printer, const meta::Object& object) {
    return printer.order(object);
  });
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
  return meta::BadRequest(fmt::format(
      "Unable to convert to Table as requested: includeObject: Invalid value: {}: must be 'Metadata', 'Object', "
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
  return fmt::format(
      "{{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/"
      "{}\",\"metadata\":{{\"resourceVersion\":\"{}\"}},{},\"rows\":[{}]}}",
      request.output.as_version, ResourceVersionOf(text),
      headers ? TableColumns(*request.served) : "\"columnDefinitions\":null", TableRow(request, text, include));
}

}  // namespace apimesh::endpoint
