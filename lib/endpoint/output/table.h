#pragma once

#include <string>

#include "lib/base/pieces.h"
#include "lib/endpoint/request.h"
#include "lib/storage/store.h"

/// The Table output, which kubectl get prints.
namespace apimesh::endpoint {

enum class IncludeObject { kMetadata, kNone, kObject };
/// Parses the parameter includeObject. An unknown value is a 400.
meta::Result<IncludeObject> ParseIncludeObject(const Query& query);

/// Returns `"columnDefinitions":[…]`.
std::string TableColumns(const ServedResource& served);
/// Returns whether the rows of a list are sorted by RowOrder() instead of by name.
bool SortsRows(const ServedResource& served);
std::int64_t RowOrder(const ServedResource& served, std::string_view json);
/// Appends `{"cells":[…],"object":…}`. The cells are cached in the entry until an age in them changes.
void AppendTableRow(Pieces& out, const ResourceRequest& request, const storage::EntryPtr& entry, IncludeObject include);
/// Returns the same row without using a cache.
std::string TableRow(const ResourceRequest& request, std::string_view json, IncludeObject include);
/// Returns a complete table with one row. If `headers` is false, columnDefinitions is null.
std::string TableOf(const ResourceRequest& request, std::string_view json, IncludeObject include, bool headers);

}  // namespace apimesh::endpoint
