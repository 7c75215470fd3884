#include "services/extensions-api/custom_resources/columns.h"

#include <fmt/format.h>

#include "lib/codec/codec.h"
#include "lib/meta/time.h"
#include "services/extensions-api/custom_resources/json_path.h"

namespace apimesh::extensions_api {
namespace {

namespace json = meta::json;

struct Cell {
  std::string type;
  std::optional<JsonPath> path;
};

json::value Print(const Cell& cell, const json::value& value, meta::Ages& ages) {
  if (cell.type == "string") {
    return value.is_string() ? json::value(value.get_string()) : json::value(codec::WriteJson(value));
  }
  if (cell.type == "integer" && value.is_number())
    return value.is_double() ? static_cast<std::int64_t>(value.get_double()) : value.to_number<std::int64_t>();
  if (cell.type == "number" && value.is_number()) return value;
  if (cell.type == "boolean" && value.is_bool()) return value;
  if (cell.type == "date" && value.is_string()) {
    const std::string_view text = value.get_string();
    return meta::ParseTime(text) ? json::value(ages.Of(text)) : json::value("<invalid>");
  }
  return nullptr;
}

}  // namespace

registry::TablePrinter PrinterOf(const json::value* additional) {
  static const json::value kAge =
      json::array{json::object{{"name", "Age"}, {"type", "date"}, {"jsonPath", ".metadata.creationTimestamp"}}};
  if (!additional || !additional->is_array() || additional->get_array().empty()) additional = &kAge;
  registry::TablePrinter printer;
  printer.columns.push_back(
      {.name = "Name", .format = "name", .description = "Name of the object, unique in its namespace."});
  printer.reads.Add("metadata.name");
  std::vector<Cell> cells;
  for (const json::value& one : additional->get_array()) {
    if (!one.is_object()) continue;
    const json::object& column = one.get_object();
    const auto text = [&column](std::string_view field) { return std::string(meta::FindString(column, field)); };
    const json::value* priority = meta::FindField(column, "priority");
    std::string description = text("description");
    if (description.empty())
      description = fmt::format("Custom resource definition column (in JSONPath format): {}", text("jsonPath"));
    printer.columns.push_back(
        {.name = text("name"),
         .type = text("type"),
         .format = text("format"),
         .description = std::move(description),
         .priority = priority && priority->is_int64() ? static_cast<int>(priority->get_int64()) : 0});
    Cell& cell = cells.emplace_back(Cell{text("type"), JsonPath::Parse(text("jsonPath"))});
    const std::vector<std::string> fields = cell.path ? cell.path->LeadingFields() : std::vector<std::string>();
    if (!fields.empty()) printer.reads.Add(fields);
  }
  printer.cells = [cells = std::move(cells)](const meta::Object& object, meta::Ages& ages) {
    json::array row;
    row.emplace_back(json::string(object.Name()));
    for (const Cell& cell : cells) {
      const json::value* value = cell.path ? cell.path->First(object.Root()) : nullptr;
      row.push_back(value ? Print(cell, *value, ages) : json::value());
    }
    return row;
  };
  return printer;
}

}  // namespace apimesh::extensions_api
