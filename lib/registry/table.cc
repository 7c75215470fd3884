#include "lib/registry/table.h"

namespace apimesh::registry {

TablePrinter DefaultTable() {
  TablePrinter printer;
  printer.columns = {{.name = "Name", .format = "name", .description = "Name of the object, unique in its namespace."},
                     {.name = "Created At", .type = "date", .description = "When the server made the object."}};
  printer.cells = [](const meta::Object& object, meta::Ages&) {
    meta::json::array cells;
    cells.emplace_back(meta::json::string(object.Name()));
    cells.emplace_back(meta::json::string(meta::FindString(object.Metadata(), "creationTimestamp")));
    return cells;
  };
  printer.reads = {"metadata.name", "metadata.creationTimestamp"};
  return printer;
}

}  // namespace apimesh::registry
