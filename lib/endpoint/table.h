#pragma once

#include <string>

#include "lib/base/pieces.h"
#include "lib/endpoint/request.h"
#include "lib/storage/store.h"

/// Table output: what kubectl get prints.
namespace apimesh::endpoint {

enum class IncludeObject { kMetadata, kNone, kObject };
/// The parameter includeObject; 400 for others.
meta::Result<IncludeObject> ParseIncludeObject(const Query& query);

/// `"columnDefinitions":[…]`
std::string TableColumns(const ServedResource& served);
/// `{"cells":[…],"object":…}`, kept beside its object: the cells until an age in them changes.
void AppendTableRow(Pieces& out, const ResourceRequest& request, const storage::EntryPtr& entry, IncludeObject include);
/// The same, made anew.
std::string TableRow(const ResourceRequest& request, std::string_view json, IncludeObject include);
/// A whole table of one object. `headers`: with column definitions.
std::string TableOf(const ResourceRequest& request, std::string_view json, IncludeObject include, bool headers);

}  // namespace apimesh::endpoint
